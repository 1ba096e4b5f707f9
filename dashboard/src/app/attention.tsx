import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { queries } from '../api/queries.ts'
import { Badge, DirectionBadge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { Untrusted } from '../ui/untrusted.tsx'
import { lineOf, useAcknowledge, useOpenAlerts } from './alerts.tsx'
import { announce, type Announcement } from './announce.ts'
import { Countdown, DecisionButtons, useSize, useWaiting } from './approvals.tsx'
import { PageLink } from './page-link.tsx'
import type { Intent } from '../api/types.ts'

/** Number of items that wait for an operator, by the page that lists them. */
export const useAttention = (): Readonly<Record<string, number>> & { readonly total: number } => {
  const approvals = useWaiting().length
  const alerts = useOpenAlerts().data?.open.length ?? 0
  return { '/risk': approvals, '/alerts': alerts, total: approvals + alerts }
}

export const CountBadge = ({ count }: { readonly count: number }) =>
  count === 0 ? null : (
    <span className="min-w-5 rounded-full bg-bad px-1.5 text-center text-[11px] leading-5 font-semibold text-panel">
      {count > 99 ? '99+' : count}
      <span className="sr-only"> waiting</span>
    </span>
  )

/** Shown on every page: the approval that expires first, and the newest alert. */
export const AttentionBanner = () => {
  const [next, ...others] = useWaiting()
  return (
    <>
      {next === undefined ? null : (
        <ApprovalBanner key={next.intent_id} intent={next} others={others.length} />
      )}
      <AlertBanner />
    </>
  )
}

const BANNER =
  'flex flex-wrap items-center gap-x-3 gap-y-1.5 border-t border-line px-3 py-1.5 text-[13px] md:px-4'

const ApprovalBanner = ({ intent, others }: { readonly intent: Intent; readonly others: number }) => (
  <section aria-label="Waiting for your approval" className={`${BANNER} bg-warn-soft`}>
    <strong className="text-warn">Approve?</strong>
    <span className="flex min-w-0 items-center gap-1.5">
      <DirectionBadge direction={intent.direction} />
      <span className="min-w-0 font-medium">
        <Untrusted lines={1} text={intent.symbol} />
      </span>
      <span className="whitespace-nowrap">{useSize(intent).text}</span>
    </span>
    <span className="text-warn">
      <Countdown until={intent.valid_until} />
    </span>
    <span className="ml-auto flex items-center gap-2">
      {others === 0 ? null : (
        <PageLink to="/risk" className="whitespace-nowrap">
          {others} more
        </PageLink>
      )}
      <DecisionButtons intent={intent} />
    </span>
  </section>
)

const AlertBanner = () => {
  const { data } = useOpenAlerts()
  const acknowledge = useAcknowledge()
  const newest = data?.open[0]
  if (newest === undefined) return null
  const { tone, name, text, positionId } = lineOf(newest)
  const others = (data?.open.length ?? 1) - 1
  return (
    <section aria-label="Alert to acknowledge" className={BANNER}>
      <Badge tone={tone}>{name}</Badge>
      <span className="min-w-0 flex-1 basis-24 max-sm:order-last max-sm:basis-full">
        <Untrusted lines={1} text={text} />
      </span>
      <span className="ml-auto flex items-center gap-2">
        {positionId === null ? null : (
          <PageLink to="/positions" search={{ position: positionId }}>
            Position
          </PageLink>
        )}
        {others === 0 ? null : (
          <PageLink to="/alerts" className="whitespace-nowrap">
            {others} more
          </PageLink>
        )}
        <Button size="small" busy={acknowledge.isPending} onClick={() => acknowledge.run([newest.id])}>
          Acknowledge
        </Button>
      </span>
    </section>
  )
}

/** Announces new items while the page is open, if this browser has announcements enabled. */
export const useAnnouncements = (): void => {
  const { data: intents } = useQuery(queries.intents('awaiting_approval'))
  const { data: alerts } = useOpenAlerts()
  const known = useRef<Set<string> | null>(null)
  useEffect(() => {
    if (intents === undefined || alerts === undefined) return
    const all: readonly Announcement[] = [
      ...intents.map(({ intent_id, direction, symbol, rationale }) => ({
        id: intent_id,
        title: `Approve ${direction} ${symbol}?`,
        text: rationale.slice(0, 200),
      })),
      ...alerts.open.map((alert) => {
        const { name, text } = lineOf(alert)
        return { id: alert.id, title: name, text }
      }),
    ]
    // Items from before the page was opened are not announced.
    const fresh = known.current === null ? [] : all.filter(({ id }) => known.current?.has(id) === false)
    known.current = new Set(all.map(({ id }) => id))
    for (const announcement of fresh) void announce(announcement)
  }, [intents, alerts])
}
