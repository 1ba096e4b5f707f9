import type { NewEvent } from '../events/catalogue.ts'
import type { Sha256Hex } from '../log/hash-chain.ts'
import { accept, refuse, type Decision } from '../shared/decision.ts'
import { runCycle, watchRegime, type CycleInputs, type CycleRules, type DecidedIntent } from './cycle.ts'
import { tradeIntentPayload, type ContributorOf, type IntentRules } from './intent-payload.ts'
import { convictionPayload, cyclePayload, regimeChangePayload, type CycleContext } from './payloads.ts'
import { regimeChange, type RegimeChange } from './regime.ts'

export interface CycleRequest {
  readonly inputs: CycleInputs
  readonly rules: CycleRules & IntentRules
  readonly context: Omit<CycleContext, 'durationMs'>
  readonly contributorOf: ContributorOf
  readonly newId: () => string
  readonly sha256Hex: Sha256Hex
  readonly elapsedMs: () => number
}

/** One cycle: regime, a conviction per symbol, intents, and the cycle itself last. A person waits for level 0. */
export const runBrainCycle = (request: CycleRequest): Decision => {
  const { inputs, context } = request
  const { killSwitchLevel: level } = inputs
  if (level > 0 && (context.trigger === 'api' || context.trigger === 'cli')) {
    return refuse('kill_switch.active', `Kill switch is at level ${level}`, { level })
  }
  const { cycleId } = context
  const result = runCycle(inputs, request.rules, (conviction) => ({
    symbol: conviction.symbol,
    domains: conviction.domains,
    signalIds: conviction.signalIds,
    id: request.newId(),
    payload: convictionPayload(conviction, { cycleId, sha256Hex: request.sha256Hex }),
  }))
  const idOfSymbol = new Map(result.convictions.map(({ symbol, id }) => [symbol, id]))
  const events: readonly NewEvent[] = [
    ...(result.regimeChange === null ? [] : regimeEvents(result.regimeChange)),
    ...result.convictions.map(({ id, payload }): NewEvent => ({
      type: 'brain.conviction.v1',
      source: 'brain',
      id,
      payload,
    })),
    ...result.intents.map((intent) => intentEvent(intent, idOfSymbol.get(intent.symbol) ?? '', request)),
    {
      type: 'brain.cycle.v1',
      source: 'brain',
      // Several services on one log agree on the id of a scheduled cycle: the first one runs it.
      ...(context.trigger === 'schedule' ? { dedupeKey: `cycle:${cycleId}` } : {}),
      payload: cyclePayload(result, { ...context, durationMs: request.elapsedMs() }),
    },
  ]
  return accept(...events.map((event) => ({ ...event, traceId: cycleId })))
}

/** At levels at which no cycle runs the regime is still watched. */
export const watchBrainRegime = (inputs: CycleInputs, rules: CycleRules): Decision => {
  const change = regimeChange(inputs.regimeBefore, watchRegime(inputs, rules.brain))
  return accept(...(change === null ? [] : regimeEvents(change)))
}

const intentEvent = (
  intent: DecidedIntent,
  convictionId: string,
  { inputs, rules, context, contributorOf }: CycleRequest,
): NewEvent => ({
  type: 'execution.trade_intent.v1',
  source: 'brain',
  payload: tradeIntentPayload(
    intent,
    { cycleId: context.cycleId, convictionId, asOfMs: inputs.asOfMs, notionalUsd: null, contributorOf },
    rules,
  ),
})

const regimeEvents = (change: RegimeChange): readonly NewEvent[] => {
  const changed: NewEvent = {
    type: 'brain.regime_change.v1',
    source: 'brain',
    payload: regimeChangePayload(change),
  }
  const { regime, previous } = change
  if (previous === null) return [changed]
  const message = `Regime changed from ${previous} to ${regime}`
  return [
    changed,
    {
      type: 'alert.regime_shift',
      source: 'alerts',
      payload: { urgency: 'standard', message, regime, previous, repeat: 0 },
    },
  ]
}
