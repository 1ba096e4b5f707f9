import { useQuery } from '@tanstack/react-query'
import { queries } from '../../api/queries.ts'
import type { EventItem, Intent } from '../../api/types.ts'
import { useEventList } from '../../live/live.ts'
import { cx } from '../../ui/cx.ts'
import { formatCount, formatPercent, textsOf } from '../../ui/format.ts'
import { QueryPanel } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { holdText, rejectionText } from './labels.ts'

const CONVICTIONS_MAX = 100
const INTENTS_MAX = 500
const REASONS_MAX = 5

/** The number of convictions that become positions, and the reasons that stop the others. */
export const FunnelPanel = ({ className = '' }: { readonly className?: string }) => {
  const { query, events: convictions } = useEventList({ type: 'brain.conviction', limit: CONVICTIONS_MAX })
  const { data: intents = [] } = useQuery(queries.intents('all', INTENTS_MAX))
  return (
    <QueryPanel title="From conviction to fill" className={className} query={query}>
      {() =>
        convictions.length === 0 ? (
          <Empty title="No convictions yet">Every cycle computes one conviction per symbol.</Empty>
        ) : (
          <Steps funnel={funnelOf(convictions, intents)} />
        )
      }
    </QueryPanel>
  )
}

const Steps = ({ funnel: { steps, from, underWay } }: { readonly funnel: Funnel }) => {
  const all = Math.max(1, steps[0]?.count ?? 1)
  return (
    <div className="grid gap-3">
      <p className="text-xs text-muted">
        The newest {formatCount(all)} convictions, since <Time at={from} />.
        {underWay === 0 ? '' : ` ${formatCount(underWay)} of the intents still in progress.`}
      </p>
      <ol className="grid gap-3">
        {steps.map((step, index) => (
          <StepRow
            key={step.name}
            step={step}
            all={all}
            before={index === 0 ? step.count : (steps[index - 1]?.count ?? 0)}
            reasonText={index === 1 ? holdText : rejectionText}
          />
        ))}
      </ol>
    </div>
  )
}

interface StepRowProps {
  readonly step: Step
  readonly all: number
  readonly before: number
  readonly reasonText: (reason: string) => string
}

const StepRow = ({ step: { name, count, stopped }, all, before, reasonText }: StepRowProps) => (
  <li>
    <div className="grid grid-cols-[5.5rem_1fr_auto] items-center gap-2 text-[13px]">
      <span className="font-medium">{name}</span>
      <span aria-hidden className="h-4 rounded bg-raised">
        <span
          className={cx('block h-full rounded bg-accent', count > 0 && 'min-w-1')}
          style={{ width: `${(count / all) * 100}%` }}
        />
      </span>
      <span className="text-right whitespace-nowrap">
        <strong className="font-semibold">{formatCount(count)}</strong>{' '}
        <span className="inline-block w-14 text-right text-xs text-muted">
          {before === 0 ? '–' : formatPercent(count / before, { digits: 0 })}
        </span>
      </span>
    </div>
    {stopped.length === 0 ? null : (
      <ul className="mt-1 grid gap-0.5 pl-[6rem] text-xs text-muted" aria-label={`Stopped before: ${name}`}>
        {stopped.slice(0, REASONS_MAX).map(({ reason, count: times }) => (
          <li key={reason} className="flex justify-between gap-3">
            <span>{reasonText(reason)}</span>
            <span className="whitespace-nowrap">{formatCount(times)} stopped</span>
          </li>
        ))}
      </ul>
    )}
  </li>
)

interface Step {
  readonly name: string
  readonly count: number
  /** Reasons that stopped the others before this step, the commonest first. A conviction may have several. */
  readonly stopped: readonly { readonly reason: string; readonly count: number }[]
}

interface Funnel {
  readonly from: string | null
  readonly steps: readonly Step[]
  /** Number of intents that are neither filled nor ended. */
  readonly underWay: number
}

const ENDED = new Set(['rejected', 'expired'])
const BEFORE_ORDER = new Set(['awaiting_approval', 'ready'])

/** The number of convictions that became intents, orders and positions, and the reasons that stopped the others. */
const funnelOf = (convictions: readonly EventItem[], intents: readonly Intent[]): Funnel => {
  const ids = new Set(convictions.map(({ id }) => id))
  const mine = intents.filter(({ conviction_id }) => ids.has(conviction_id))
  const withOrder = mine.filter(
    ({ status, order_id }) => order_id !== null || (!ENDED.has(status) && !BEFORE_ORDER.has(status)),
  )
  const filled = mine.filter(({ status }) => status === 'filled')
  const meant = new Set(mine.map(({ conviction_id }) => conviction_id))
  return {
    from: convictions.at(-1)?.ts ?? null,
    steps: [
      { name: 'Convictions', count: convictions.length, stopped: [] },
      {
        name: 'Intents',
        count: mine.length,
        stopped: counted(convictions.filter(({ id }) => !meant.has(id)).map(holdReasonsOf)),
      },
      {
        name: 'Orders',
        count: withOrder.length,
        stopped: counted(
          mine.filter(({ order_id, status }) => order_id === null && ENDED.has(status)).map(reasonsOf),
        ),
      },
      {
        name: 'Filled',
        count: filled.length,
        stopped: counted(
          mine.filter(({ order_id, status }) => order_id !== null && ENDED.has(status)).map(reasonsOf),
        ),
      },
    ],
    underWay: mine.filter(({ status }) => status !== 'filled' && !ENDED.has(status)).length,
  }
}

const reasonsOf = ({ status, reasons }: Intent): readonly string[] =>
  reasons.length === 0 ? [status] : reasons

const holdReasonsOf = ({ payload }: EventItem): readonly string[] => {
  const decision = payload['decision']
  return typeof decision === 'object' && decision !== null && 'reasons' in decision
    ? textsOf(decision.reasons)
    : []
}

const counted = (lists: readonly (readonly string[])[]): Step['stopped'] => {
  const counts = new Map<string, number>()
  for (const reason of lists.flat()) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  return [...counts]
    .map(([reason, count]) => ({ reason, count }))
    .toSorted((one, other) => other.count - one.count)
}
