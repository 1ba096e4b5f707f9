import { describe, expect, it } from 'vitest'
import { builtInRun } from '../../../test/given.fixture.ts'
import { DAY_MS } from '../shared/time.ts'
import type { TradingScenario } from '../trading/trading.fixture.ts'
import { bullish, configured, HOUR_MS, say, verdictsIn } from './calls.fixture.ts'
import { isAnyOverdue } from './settle-calls.ts'

const hourly = { ...bullish, horizon: '1h' }
const openCalls = ({ state }: TradingScenario): number => state.reputation.calls.open.size
const isOverdue = ({ state, now, configuration }: TradingScenario): boolean =>
  isAnyOverdue(state.reputation.calls, now, configuration.settlement)

describe.each([
  ['an hour', HOUR_MS],
  ['a year', 365 * DAY_MS],
])('a call that a clock %s ahead opened', (_, aheadMs) => {
  const afterWrongClock = (symbol: string): TradingScenario => {
    const scenario = configured()
    scenario.bar('BTC', 100)
    scenario.wait(aheadMs)
    scenario.bar('BTC', 100)
    say(scenario, 'ann', { ...hourly, symbol })
    scenario.wait(-aheadMs)
    return scenario
  }

  it('is void with the next bar, and those behind it are settled in time', () => {
    const scenario = afterWrongClock('BTC')
    expect(verdictsIn(scenario.bar('BTC', 100))).toMatchObject([{ void_reason: 'no_bar', hit: null }])
    const { call_id } = say(scenario, 'bob', { ...hourly, direction: 'bearish' })
    scenario.wait(59 * 60_000)
    expect(verdictsIn(scenario.bar('BTC', 99))).toMatchObject([{ call_id, hit: true, exit_price: 99 }])
    expect(openCalls(scenario)).toBe(0)
  })

  it('is void without a bar too, so that nothing waits for it', () => {
    const scenario = afterWrongClock('ETH')
    expect(isOverdue(scenario)).toBe(true)
    const verdicts = verdictsIn(scenario.do({ kind: 'settle-overdue' }))
    expect(verdicts).toMatchObject([{ symbol: 'ETH', void_reason: 'no_price' }])
    say(scenario, 'bob', { ...hourly, symbol: 'ETH' })
    expect(isOverdue(scenario)).toBe(false)
  })
})

describe('a call of a producer that reads bars', () => {
  it('is settled by the bar of its due time, although somebody spoke between the bar and its run', () => {
    const scenario = configured()
    scenario.bar('BTC', 100)
    const closedAt = scenario.now
    scenario.wait(20_000)
    say(scenario, 'ann', { ...bullish, horizon: '4h' })
    scenario.wait(5000)
    scenario.do(
      builtInRun('technical-analysis', 'signal.ta.v1', { symbol: 'BTC', rsi_14: 30 }, { ts: closedAt }),
    )
    scenario.wait(4 * HOUR_MS - 25_000 - 60_000)
    expect(verdictsIn(scenario.bar('BTC', 101))).toMatchObject([{ producer_id: 'technical-analysis' }])
    expect(verdictsIn(scenario.bar('BTC', 101))).toMatchObject([{ producer_id: 'ann' }])
    expect(openCalls(scenario)).toBe(0)
  })
})
