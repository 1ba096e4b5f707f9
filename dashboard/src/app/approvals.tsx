import { useQuery } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import type { Intent } from '../api/types.ts'
import { Button } from '../ui/button.tsx'
import { formatDuration, formatPercent, formatUsd, formatWords } from '../ui/format.ts'
import { useNow } from '../ui/time.tsx'
import { useAction } from './use-action.ts'

/** Intents that wait for an operator: those that expire first, then the oldest. The API returns the newest first. */
export const useWaiting = (): readonly Intent[] => {
  const { data = [] } = useQuery(queries.intents('awaiting_approval'))
  return data.toReversed().toSorted((one, other) => one.valid_until.localeCompare(other.valid_until))
}

/** Size of an intent, as an amount and as text. */
export const useSize = ({
  size_pct,
}: Intent): { readonly notional: number | null; readonly text: string } => {
  const { data: portfolio } = useQuery(queries.portfolio())
  const notional = portfolio === undefined ? null : portfolio.equity_usd * size_pct
  return { notional, text: notional === null ? `${formatPercent(size_pct)} of equity` : formatUsd(notional) }
}

const useDecision = ({ intent_id: id }: Intent, what: string) =>
  useAction({
    send: (verb: 'approve' | 'deny', headers, note) =>
      api.POST(`/intents/{id}/${verb}`, { params: { path: { id } }, body: { note }, headers }),
    confirms: (verb) =>
      verb === 'approve'
        ? {
            title: `Approve ${what}?`,
            text: 'It is executed at once, with all checks of any entry.',
            confirmLabel: 'Approve',
            reason: { suggestion: 'approved on the dashboard' },
          }
        : {
            title: `Deny ${what}?`,
            text: 'The intent ends. The brain may create another one in a later cycle.',
            confirmLabel: 'Deny',
            look: 'danger',
            reason: { suggestion: 'denied on the dashboard' },
          },
    done: ({ symbol, status, reasons }) =>
      `${symbol}: ${formatWords(status)}${reasons.length > 0 ? ` (${reasons.map(formatWords).join(', ')})` : ''}`,
    refreshes: ['intents', 'orders', 'positions', 'portfolio'],
  })

export const DecisionButtons = ({ intent }: { readonly intent: Intent }) => {
  const what = `${intent.direction} ${intent.symbol}, ${useSize(intent).text}`
  const decision = useDecision(intent, what)
  return (
    <>
      <Button size="small" look="primary" busy={decision.isPending} onClick={() => decision.run('approve')}>
        Approve<span className="sr-only"> {what}</span>
      </Button>
      <Button size="small" busy={decision.isPending} onClick={() => decision.run('deny')}>
        Deny<span className="sr-only"> {what}</span>
      </Button>
    </>
  )
}

/** Time until an intent expires, to the second. */
export const Countdown = ({ until }: { readonly until: string }) => {
  const text = useNow((nowMs) => {
    const ms = Date.parse(until) - nowMs
    return ms <= 0 ? 'expired' : `expires in ${formatDuration(Math.ceil(ms / 1000) * 1000)}`
  })
  return (
    <time dateTime={until} className="whitespace-nowrap tabular-nums">
      {text}
    </time>
  )
}
