import { runCycle } from '../core/brain/cycle.ts'
import { weightsInForce } from '../core/brain/learning.ts'
import { evidenceOf } from '../core/brain/payloads.ts'
import { cycleInputsOf, type CycleRequest } from '../core/brain/run-cycle.ts'
import type { PayloadOf } from '../core/events/catalogue.ts'
import type { Stamped } from '../core/log/event.ts'
import type { SignalId } from '../core/shared/brand.ts'
import type { DecisionContext } from '../core/shared/decision-context.ts'
import { evolve, type State } from '../core/state.ts'
import { isRiskNews } from './quiet-risk.ts'

/** A cycle after which everything stays as it is. */
interface QuietCycle {
  readonly state: State
  /** How many events it would have had. */
  readonly count: number
  /** Why each symbol is not traded. */
  readonly reasons: readonly (readonly string[])[]
}

/** The members that any fold reads. */
type Folded = Pick<
  PayloadOf<'brain.cycle.v1'>,
  'cycle_id' | 'started_at' | 'stale_cycles' | 'evidence' | 'weights_version'
> & { readonly signals_used: Readonly<Record<string, readonly SignalId[]>> }

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
  // Nothing is folded of a conviction that trades nothing, and of a cycle no more than this.
  const cycle: Stamped<'brain.cycle.v1', Folded> = {
    seq: state.seq + convictions.length + 1,
    id: '',
    type: 'brain.cycle.v1',
    ts: context.now,
    source: 'brain',
    traceId: request.cycleId,
    dedupeKey: null,
    payload: {
      cycle_id: request.cycleId,
      started_at: context.now,
      stale_cycles: result.staleness.staleCycles,
      signals_used: Object.fromEntries(convictions.map(({ symbol, signalIds }) => [symbol, signalIds])),
      evidence: evidenceOf(result.regime),
      weights_version: weightsInForce(state.brain.learning, context.configuration).version,
    },
    recordedAt: context.now,
  }
  const after = evolve(state, cycle as unknown as Stamped)
  if (isRiskNews(after.trading, context.now, context.configuration)) return null
  return {
    state: after,
    count: convictions.length + 1,
    reasons: convictions.map(({ decision }) => decision.reasons),
  }
}
