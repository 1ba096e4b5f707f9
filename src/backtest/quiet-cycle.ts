import { runCycle } from '../core/brain/cycle.ts'
import { cycleEvent, cycleInputsOf, type CycleRequest } from '../core/brain/run-cycle.ts'
import { decide } from '../core/decide.ts'
import { stamp } from '../core/run.ts'
import type { DecisionContext } from '../core/shared/decision-context.ts'
import { evolve, type State } from '../core/state.ts'

/** A cycle after which everything stays as it is. */
interface QuietCycle {
  readonly state: State
  /** How many events it would have had. */
  readonly count: number
  /** Why each symbol is not traded. */
  readonly reasons: readonly (readonly string[])[]
}

/** Null for a cycle that trades, closes or finds another regime: that one is recorded with all that it rests on. */
export const quietCycle = (
  state: State,
  request: CycleRequest,
  context: DecisionContext,
): QuietCycle | null => {
  // A conviction that uses the signal of a contributor for the first time counts for it.
  if (state.signals.contributors.unused.size > 0) return null
  const inputs = cycleInputsOf(state, context, request.asOf)
  const result = runCycle(inputs, context.configuration, ({ symbol, domains, signalIds, decision }) => ({
    symbol,
    domains,
    signalIds,
    decision,
  }))
  const { convictions, intents, regimeChange } = result
  if (intents.length > 0 || regimeChange !== null) return null
  if (convictions.some(({ decision }) => decision.action === 'exit')) return null
  // Nothing is folded of a conviction that trades nothing.
  const before = { ...state, seq: state.seq + convictions.length }
  const cycle = stamp(cycleEvent(state, result, request, context), before.seq + 1, context)
  const after = evolve(before, cycle)
  const assessed = decide(after, { kind: 'assess-risk' }, context)
  if (assessed.status === 'refused' || assessed.events.length > 0) return null
  return {
    state: after,
    count: convictions.length + 1,
    reasons: convictions.map(({ decision }) => decision.reasons),
  }
}
