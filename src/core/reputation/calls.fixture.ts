import { contributorId, nodeId } from '../shared/brand.ts'
import type { NewEvent, NewPayload } from '../events/catalogue.ts'
import { TradingScenario, payloadOf } from '../trading/trading.fixture.ts'
import type { Stamped } from '../log/event.ts'
import type { Json, JsonObject } from '../shared/json.ts'

export const HOUR_MS = 3_600_000
export const RESOLVED = 'attribution.resolved.v1'

/** An account with two contributors and a price. */
export const configured = (
  changes: ConstructorParameters<typeof TradingScenario>[0] = {},
): TradingScenario => {
  const scenario = new TradingScenario(changes)
  for (const node of ['ann', 'bob']) {
    scenario.record({
      type: 'contributor.registered.v1',
      source: 'api',
      payload: {
        contributor_id: `id of ${node}`,
        node_id: node,
        name: node,
        role: 'curator',
        metadata: {},
      },
    })
  }
  return scenario
}

export const say = (scenario: TradingScenario, node: string, payload: JsonObject): JsonObject =>
  payloadOf(
    scenario.do({
      kind: 'submit-signal',
      submission: {
        eventType: 'signal.curator.v1',
        nodeId: nodeId(node),
        ts: null,
        source: null,
        payload: { symbol: 'BTC', ...payload },
        dedupeKey: null,
      },
    }),
    'attribution.recorded.v1',
  )

export const bullish = { direction: 'bullish', conviction: 8 }
export const verdictsIn = (events: readonly Stamped[]): readonly JsonObject[] =>
  events.filter(({ type }) => type === RESOLVED).map(({ payload }) => payload)

export const stringOrEmpty = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

export const recordOf = (scenario: TradingScenario, node: string) =>
  scenario.state.signals.contributors.byId.get(contributorId(`id of ${node}`))?.record

/** Passes time without bars, then stores the next bar. */
export const barAfter = (scenario: TradingScenario, ms: number, close: number): readonly Stamped[] => {
  scenario.wait(ms - 60_000)
  return scenario.bar('BTC', close)
}

export type Resolved = Extract<NewEvent, { readonly type: 'attribution.resolved.v1' }>

/** A resolution, after the attribution that opened its call. */
export const withItsCall = (resolved: Resolved): readonly NewEvent[] => {
  const { payload } = resolved
  const opened: NewPayload<'attribution.recorded.v1'> = {
    signal_id: `signal of ${payload.call_id}`,
    contributor_id: payload.contributor_id,
    node_id: null,
    producer_id: payload.producer_id,
    received_at: payload.opened_at,
    symbol: payload.symbol,
    direction: payload.direction,
    score: null,
    probability: payload.probability,
    call_id: payload.call_id,
    horizon: payload.horizon,
    due_at: payload.due_at,
    ref_price: payload.ref_price,
    ref_sigma: null,
  }
  return [{ type: 'attribution.recorded.v1', source: payload.producer_id, payload: opened }, resolved]
}
