import { builtInRun } from '../../../test/given.fixture.ts'
import { expect, it } from 'vitest'
import { TradingScenario, payloadOf, typesOf } from './trading.fixture.ts'
import type { JsonObject } from '../shared/json.ts'

const say = (
  scenario: TradingScenario,
  producerId: string,
  type: `signal.${string}`,
  payload: JsonObject,
): void => void scenario.do(builtInRun(producerId, type, payload, { ts: scenario.now }))

const opinions = (scenario: TradingScenario, side: 1 | -1): void => {
  say(scenario, 'technical-analysis', 'signal.ta.v1', { symbol: 'ETH', rsi_14: 50 - 28 * side })
  say(scenario, 'market-sentiment', 'signal.social.v1', {
    symbol: 'ETH',
    score: 9 * side,
    direction: side === 1 ? 'bullish' : 'bearish',
    source_count: 1,
  })
  say(scenario, 'onchain-flows', 'signal.onchain.v1', { symbol: 'ETH', price_momentum_24h: 12 * side })
}

it('signals become a position, and opposite ones end it', () => {
  const scenario = new TradingScenario({ universe: { symbols: ['ETH'] } })
  scenario.bar('ETH', 3000)
  opinions(scenario, 1)
  const first = scenario.do({ kind: 'run-cycle', cycleId: 'c1', trigger: 'api' })
  expect(typesOf(first).slice(-5)).toEqual([
    'execution.trade_intent.v1',
    'brain.cycle.v1',
    'execution.order_submitted.v1',
    'execution.order_filled.v1',
    'execution.position_opened.v1',
  ])
  expect(first.every(({ traceId }) => traceId === 'c1')).toBe(true)
  const conviction = payloadOf(first, 'brain.conviction.v1')
  expect(payloadOf(first, 'execution.position_opened.v1')).toMatchObject({
    asset: 'ETH',
    direction: 'long',
    pcs_at_entry: conviction['pcs_score'],
    cts_at_entry: conviction['cts_score'],
  })
  scenario.bar('ETH', 3010)
  const held = scenario.do({ kind: 'run-cycle', cycleId: 'c2', trigger: 'api' })
  expect(payloadOf(held, 'brain.conviction.v1')['decision']).toMatchObject({ action: 'hold' })
  opinions(scenario, -1)
  const turned = scenario.do({ kind: 'run-cycle', cycleId: 'c3', trigger: 'api' })
  expect(payloadOf(turned, 'brain.conviction.v1')['decision']).toMatchObject({ action: 'exit' })
  expect(payloadOf(turned, 'execution.position_closed.v1')).toMatchObject({ exit_reason: 'bias_flip' })
  expect(typesOf(turned)).not.toContain('execution.trade_intent.v1')
  const after = scenario.do({ kind: 'run-cycle', cycleId: 'c4', trigger: 'api' })
  expect(payloadOf(after, 'execution.position_opened.v1')).toMatchObject({ direction: 'short' })
})

it('opposite signals leave alone what a strategy opened', () => {
  const scenario = new TradingScenario({ universe: { symbols: ['ETH'] } })
  scenario.bar('ETH', 3000)
  const strategy = { rule: 'momentum', symbol: 'ETH', conviction: 75 }
  scenario.do({ kind: 'propose-trade', proposal: { ...strategy, direction: 'long' } })
  opinions(scenario, -1)
  const opposed = scenario.do({ kind: 'run-cycle', cycleId: 'c1', trigger: 'api' })
  expect(payloadOf(opposed, 'brain.conviction.v1')).toMatchObject({
    direction: 'short',
    decision: { action: 'hold', reasons: ['hold'] },
  })
  expect(typesOf(opposed).filter((type) => type.startsWith('execution.'))).toEqual([])
  scenario.do({ kind: 'propose-trade', proposal: { ...strategy, direction: 'flat' } })
  const after = scenario.do({ kind: 'run-cycle', cycleId: 'c2', trigger: 'api' })
  expect(payloadOf(after, 'execution.position_opened.v1')).toMatchObject({ direction: 'short' })
})

it('with real money a cycle waits for an operator from the size on that the settings name, and only then', () => {
  const intentAt = (threshold: number) => {
    const scenario = new TradingScenario({
      universe: { symbols: ['ETH'] },
      execution: { mode: 'live', confirmation_threshold_usd: threshold },
    })
    scenario.bar('ETH', 3000)
    opinions(scenario, 1)
    const cycle = scenario.do({ kind: 'run-cycle', cycleId: 'c1', trigger: 'api' })
    return payloadOf(cycle, 'execution.trade_intent.v1')
  }
  const largest = 10_000 * Number(intentAt(1e6)['size_pct'])
  expect(intentAt(largest)['status']).toBe('awaiting_approval')
  expect(intentAt(largest + 0.01)['status']).toBe('ready')
})
