import { proposalOfIntent, type Proposal } from '../../core/brain/propose-trade.ts'
import type { Command } from '../../core/decide.ts'
import { asKnown } from '../../core/events/catalogue.ts'
import type { Stamped } from '../../core/log/event.ts'
import type { State } from '../../core/state.ts'
import { ruleOf } from '../../core/trading/positions/positions.ts'

/**
 * Proposals that a strategy may have made. Its answer (side, conviction, size, stop, target, reason) is an input and
 * stands in the intent. The consequences are decided again: whether it may enter, leverage, approval, price, validity,
 * and all that follows.
 */
export const proposals = (state: State, rest: readonly Stamped[]): readonly Command[] => [
  ...entry(rest[0]),
  ...exit(state, rest),
]

const proposing = (proposal: Proposal): Command => ({ kind: 'propose-trade', proposal })

const entry = (first: Stamped | undefined): readonly Command[] => {
  const known = first === undefined ? null : asKnown(first)
  const rule = first?.source ?? null
  if (known?.type !== 'execution.trade_intent.v1' || rule === null) return []
  return [proposing(proposalOfIntent(rule, known.payload))]
}

/** The strategy wanted no position, or the opposite side. Both close the same positions. */
const exit = ({ trading }: State, rest: readonly Stamped[]): readonly Command[] => {
  const submitted = rest.find(({ type }) => type === 'execution.order_submitted.v1')
  const order = submitted === undefined ? null : asKnown(submitted)
  if (order?.type !== 'execution.order_submitted.v1' || order.payload.exit_reason !== 'bias_flip') return []
  const position = trading.positions.get(order.payload.position_id)
  const rule = ruleOf(position)
  if (position === undefined || rule === null) return []
  const opposite = position.terms.direction === 'long' ? 'short' : 'long'
  return (['flat', opposite] as const).map((direction) =>
    proposing({ rule, symbol: order.payload.symbol, direction, conviction: 0 }),
  )
}
