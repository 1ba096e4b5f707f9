import type { EventItem } from '../../api/log.ts'
import type { Intent } from '../../api/trading.ts'
import { textsOf } from './cycles.ts'

export interface Step {
  readonly name: string
  readonly count: number
  /** Why the others stopped before it, commonest first. One may have several reasons. */
  readonly stopped: readonly { readonly reason: string; readonly count: number }[]
}

export interface Funnel {
  readonly from: string | null
  readonly steps: readonly Step[]
  /** Neither filled nor ended. */
  readonly underWay: number
}

const ENDED = new Set(['rejected', 'expired'])
const BEFORE_ORDER = new Set(['awaiting_approval', 'ready'])

/** How many judgements became intents, orders and positions, and what stopped the others. */
export const funnelOf = (convictions: readonly EventItem[], intents: readonly Intent[]): Funnel => {
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
      { name: 'Judged', count: convictions.length, stopped: [] },
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
