import { describe, expect, it } from 'vitest'
import { priceFrom } from '../../shared/money.ts'
import { canonicalSymbol } from '../../shared/symbol.ts'
import { DAY_MS, timestampAt } from '../../shared/time.ts'
import { openPositionsOf } from './book.ts'
import { payloadOf, TradingScenario } from '../trading.fixture.ts'

describe('the longest time that a position is held', () => {
  it('ends with its last moment', () => {
    const scenario = new TradingScenario()
    scenario.bar('BTC', 100)
    scenario.intend()
    const [position] = openPositionsOf(scenario.state.trading)
    const endMs = Date.parse(position?.terms.openedAt ?? '') + 7 * DAY_MS
    scenario.wait(endMs - Date.parse(scenario.now))
    const tickAt = (ms: number) =>
      scenario.do({
        kind: 'observe-tick',
        tick: { symbol: canonicalSymbol('BTC'), price: priceFrom(101), ts: timestampAt(ms), confirms: null },
      })
    expect(tickAt(endMs - 1)).toEqual([])
    tickAt(endMs)
    expect(payloadOf(scenario.log, 'execution.position_closed.v1')).toMatchObject({
      exit_reason: 'time_stop',
    })
  })
})
