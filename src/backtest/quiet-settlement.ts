import { decide } from '../core/decide.ts'
import type { FeedBar } from '../core/market/bar.ts'
import { stamp } from '../core/run.ts'
import { assert } from '../core/shared/assert.ts'
import { timestampOf } from '../core/shared/brand.ts'
import type { DecisionContext } from '../core/shared/decision-context.ts'
import { priceFrom } from '../core/shared/money.ts'
import { canonicalSymbol } from '../core/shared/symbol.ts'
import { evolve, type State } from '../core/state.ts'

/** The calls that quiet bars decide change what authors are worth, and nothing else follows from them. */
export const afterSettling = (before: State, bars: readonly FeedBar[], context: DecisionContext): State => {
  let state = before
  for (const { symbol, close, close_ts } of bars) {
    const bar = {
      symbol: canonicalSymbol(symbol),
      close: priceFrom(close),
      closeTs: timestampOf(close_ts),
    }
    const decision = decide(state, { kind: 'settle-bar', bar }, context)
    assert(decision.status === 'accepted', 'calls that a bar decides are settled')
    for (const event of decision.events) state = evolve(state, stamp(event, state.seq + 1, context))
  }
  return state
}
