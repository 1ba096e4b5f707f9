import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import type { Live } from '../../api/types.ts'
import { openKillSwitch } from '../../app/kill-switch.tsx'
import { PageLink } from '../../app/page-link.tsx'
import { useAction } from '../../app/use-action.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { formatWords } from '../../ui/format.ts'
import { Facts, Id } from '../../ui/id.tsx'
import { QueryPanel } from '../../ui/panel.tsx'
import { Time } from '../../ui/time.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'

/** Whether real orders are sent, and everything that prevents it. */
export const LivePanel = () => {
  const query = useQuery(queries.live())
  return (
    <QueryPanel
      title="Live trading"
      query={query}
      actions={query.data === undefined ? null : <SendsBadge live={query.data} />}
    >
      {(live) => (
        <div className="grid gap-3">
          <Facts
            facts={{
              Mode: live.mode,
              Venue: live.venue ?? 'none',
              Confirmed:
                live.confirmed === null ? (
                  'never'
                ) : (
                  <>
                    {live.confirmed.venue}, <Time at={live.confirmed.at} as="ago" />
                  </>
                ),
              Entries: live.sends_entries ? 'are sent to the venue' : 'are not sent to a venue',
              'Unknown orders':
                live.unknown_orders.length === 0 ? (
                  'none'
                ) : (
                  <span className="flex flex-wrap gap-x-2">
                    {live.unknown_orders.map((id) => (
                      <Id key={id} id={id} />
                    ))}
                  </span>
                ),
              'Adopted positions':
                live.adopted_positions.length === 0 ? undefined : (
                  <PageLink to="/positions">{live.adopted_positions.length} not opened here</PageLink>
                ),
            }}
          />
          {live.held_back_by.length === 0 ? null : (
            <ul className="grid gap-2" aria-label="What holds live trading back">
              {live.held_back_by.map((blocker) => (
                <li key={blocker} className="rounded-md bg-raised px-2.5 py-2 text-[13px]">
                  <Blocker blocker={blocker} live={live} />
                </li>
              ))}
            </ul>
          )}
          {live.checks === null ? null : <Checks checks={live.checks} />}
        </div>
      )}
    </QueryPanel>
  )
}

const SendsBadge = ({ live: { sends_entries: sends, mode } }: { readonly live: Live }) => (
  <Badge tone={sends ? 'warn' : 'neutral'}>
    {sends ? 'sends real orders' : mode === 'paper' ? 'paper only' : 'held back'}
  </Badge>
)

const SettingsLink = ({ children }: { readonly children: ReactNode }) => (
  <PageLink to="/settings" search={{ section: 'execution' }}>
    {children}
  </PageLink>
)

/** A reason that prevents live trading, and the way to remove it. */
const Blocker = ({
  blocker,
  live,
}: {
  readonly blocker: Live['held_back_by'][number]
  readonly live: Live
}) => {
  switch (blocker) {
    case 'mode_paper':
      return (
        <Step title="Mode is paper">
          Orders are simulated. <SettingsLink>Set execution.mode to live</SettingsLink> to trade at a venue.
        </Step>
      )
    case 'no_venue':
      return (
        <Step title="No venue">
          <SettingsLink>Set execution.venue</SettingsLink> and store its key with <code>svc vault set</code>.
        </Step>
      )
    case 'not_confirmed':
      return (
        <Step title="Not confirmed">
          Run <code>svc live enable</code>: it checks {live.venue ?? 'the venue'} and asks for confirmation.
        </Step>
      )
    case 'not_checked':
      return (
        <Step title="Venue not checked yet">
          The service checks it after the start and then regularly. If this stays, see the log.
        </Step>
      )
    case 'check_failed':
      return (
        <Step title="Venue check failed">
          Fix what is marked below. New keys need a restart; everything else is checked again automatically.
        </Step>
      )
    case 'order_unknown':
      return (
        <Step
          title={`State of ${live.unknown_orders.length === 1 ? '1 order' : `${live.unknown_orders.length} orders`} unknown`}
        >
          The service looks them up at the venue. Orders it cannot look up need an operator: see the orders.
        </Step>
      )
    case 'paper_period':
      return <PaperPeriod />
    case 'kill_switch':
      return (
        <Step
          title="Kill switch is up"
          action={
            <Button size="small" onClick={openKillSwitch}>
              Kill switch
            </Button>
          }
        >
          No entries at level 2 and above.
        </Step>
      )
    case 'reduce_only':
      return <ReduceOnly live={live} />
    case 'open_elsewhere':
      return (
        <Step title="Open at a venue that is not configured">
          {live.reasons
            .filter(({ code }) => code === blocker)
            .map(({ text }) => text)
            .join(' ')}
        </Step>
      )
    case 'feed_simulated':
    case 'feed_file':
    case 'feed_other_venue':
    case 'price_old':
    case 'quote_old':
    case 'price_differs':
      return (
        <Step title={`Prices are not those of ${live.venue ?? 'the venue'}`}>
          {live.reasons.find(({ code }) => code === blocker)?.text}
        </Step>
      )
    default:
      // A reason that is a sentence already, or a reason of a later release.
      return <Untrusted text={formatWords(blocker)} />
  }
}

interface StepProps {
  readonly title: string
  readonly action?: ReactNode
  readonly children: ReactNode
}

const Step = ({ title, action = null, children }: StepProps) => (
  <div className="flex flex-wrap items-center justify-between gap-x-3 gap-y-1.5">
    <div className="min-w-0">
      <p className="font-medium">{title}</p>
      <div className="text-xs text-muted">{children}</div>
    </div>
    {action}
  </div>
)

const PaperPeriod = () => {
  const { data } = useQuery(queries.config())
  return (
    <Step title="Paper period is not over">
      {data === undefined ? null : `${data.execution.paper_min_days} days after the first paper trade `}(
      <SettingsLink>execution.paper_min_days</SettingsLink>).
    </Step>
  )
}

const ReduceOnly = ({ live: { reduce_only, venue } }: { readonly live: Live }) => {
  const resume = useAction({
    send: (_input: void, headers, reason) => api.POST('/live/resume', { body: { reason }, headers }),
    confirms: () => ({
      title: 'Allow entries again?',
      text: `Positions that ${venue ?? 'the venue'} does not hold are closed here at their last price. Adopted positions stay until you close them.`,
      confirmLabel: 'Resume',
      look: 'danger',
      reason: { suggestion: '' },
    }),
    done: () => 'Entries are allowed again',
    refreshes: ['live', 'positions', 'portfolio'],
  })
  return (
    <Step
      title="Reduce only"
      action={
        <Button size="small" busy={resume.isPending} onClick={() => resume.run()}>
          Resume
        </Button>
      }
    >
      {reduce_only === null ? null : (
        <>
          <Untrusted text={reduce_only.reason} />
          Since <Time at={reduce_only.since} as="ago" />. Compare the positions here and at the venue first.
        </>
      )}
    </Step>
  )
}

const Checks = ({ checks: { at, ok, items } }: { readonly checks: NonNullable<Live['checks']> }) => (
  <details open={!ok}>
    <summary className="text-xs text-muted">
      Venue check <Badge tone={ok ? 'good' : 'bad'}>{ok ? 'passed' : 'failed'}</Badge>{' '}
      <Time at={at} as="ago" />
    </summary>
    <ul className="mt-2 grid gap-1 text-[13px]">
      {items.map((item) => (
        <li key={item.name} className="flex items-baseline gap-2">
          <Badge tone={item.ok ? 'good' : 'bad'}>{formatWords(item.name)}</Badge>
          <span className="min-w-0 text-xs text-muted">
            <Untrusted text={item.detail} />
          </span>
        </li>
      ))}
    </ul>
  </details>
)
