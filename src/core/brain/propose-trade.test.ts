import { canonicalSymbol } from '../shared/symbol.ts'
import { priceFrom } from '../shared/money.ts'
import { describe, expect, it } from 'vitest'
import { testContext } from '../../../test/given.fixture.ts'
import { TradingScenario, payloadOf, typesOf } from '../trading/trading.fixture.ts'
import { run } from '../run.ts'
import type { Direction } from '../shared/money.ts'

const proposal = (direction: Direction, conviction = 75) =>
  ({ kind: 'propose-trade', proposal: { rule: 'momentum', symbol: 'BTC', direction, conviction } }) as const

const scenario = (): TradingScenario => {
  const opened = new TradingScenario()
  opened.bar('BTC', 100)
  return opened
}

const ENTERED = [
  'execution.trade_intent.v1',
  'execution.order_submitted.v1',
  'execution.order_filled.v1',
  'execution.position_opened.v1',
]

describe('a proposed trade', () => {
  it('is sized like a trade of the brain', () => {
    const events = scenario().do(proposal('long'))
    expect(typesOf(events)).toEqual(ENTERED)
    expect(payloadOf(events, 'execution.trade_intent.v1')).toMatchObject({
      conviction_score: 75,
      direction: 'long',
      intended_price: 100,
      leverage: 2,
      size_pct: 0.05,
      signal_ids: [],
    })
    expect(payloadOf(scenario().do(proposal('long', 60)), 'execution.trade_intent.v1')).toMatchObject({
      leverage: 1,
      size_pct: 0.02,
    })
  })

  it('is not repeated while a position or an intent is open', () => {
    const held = scenario()
    held.do(proposal('long'))
    expect(held.do(proposal('long'))).toEqual([])
  })

  it('exits an opposite position and enters nothing in the same step', () => {
    const held = scenario()
    held.do(proposal('long'))
    const events = held.do(proposal('short'))
    expect(payloadOf(events, 'execution.position_closed.v1')).toMatchObject({ exit_reason: 'bias_flip' })
    expect(typesOf(events)).not.toContain('execution.trade_intent.v1')
    expect(typesOf(held.do(proposal('short')))).toEqual(ENTERED)
  })

  it.each([2, 3] as const)('is not made at level %i of the kill switch', (level) => {
    const stopped = scenario()
    const move = { level, reason: 'test', operator: 'test', surface: 'cli' } as const
    stopped.do({ kind: 'set-kill-switch', move })
    expect(stopped.do(proposal('long'))).toEqual([])
  })

  it('is subject to every limit', () => {
    const held = new TradingScenario({ execution: { dcg_symbols: ['BTC'] } })
    held.bar('BTC', 100)
    expect(payloadOf(held.do(proposal('long')), 'execution.order_failed.v1')).toMatchObject({
      reasons: ['dcg_symbol'],
    })
  })
})

describe('prices that come with a command', () => {
  const decided = (price: number | null) => {
    const { state, now, configuration } = scenario()
    const prices = new Map([
      [canonicalSymbol('BTC'), price === null ? null : { price: priceFrom(price), atMs: Date.parse(now) }],
    ])
    const result = run(state, proposal('long'), testContext({ now, configuration, prices }))
    if (result.status === 'refused') throw new Error('refused')
    return result.events
  }

  it('take precedence over prices of the log', () => {
    const events = decided(103)
    expect(payloadOf(events, 'execution.trade_intent.v1')).toMatchObject({ intended_price: 103 })
    expect(payloadOf(events, 'execution.order_filled.v1')).toMatchObject({ fill_price: 103.0515 })
  })

  it('can state that there is no price', () => {
    expect(payloadOf(decided(null), 'execution.order_failed.v1')).toMatchObject({ reasons: ['no_price'] })
  })
})
