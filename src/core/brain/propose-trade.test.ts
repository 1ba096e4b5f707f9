import { canonicalSymbol } from '../shared/symbol.ts'
import { priceFrom, priceNumberOrNull } from '../shared/money.ts'
import { describe, expect, it } from 'vitest'
import { testContext } from '../../../test/given.fixture.ts'
import { TradingScenario, payloadOf, typesOf } from '../trading/trading.fixture.ts'
import { run } from '../run.ts'
import type { Direction } from '../shared/money.ts'
import type { Proposal } from './propose-trade.ts'
import { signalId } from '../shared/brand.ts'

const proposal = (direction: Direction | 'flat', conviction = 75, more: Partial<Proposal> = {}) =>
  ({
    kind: 'propose-trade',
    proposal: { rule: 'momentum', symbol: 'BTC', direction, conviction, ...more },
  }) as const

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

describe('the terms of a proposed trade', () => {
  const intentOf = (more: Partial<Proposal>) =>
    payloadOf(scenario().do(proposal('long', 75, more)), 'execution.trade_intent.v1')

  it('are those of the settings, unless it names its own', () => {
    expect(intentOf({})).toMatchObject({ stop_loss_pct: 0.05, take_profit_pct: 0.1, size_pct: 0.05 })
    expect(intentOf({ stopPct: 0.02, targetPct: 0.3, sizePct: 0.08, reason: 'up' })).toMatchObject({
      stop_loss_pct: 0.02,
      take_profit_pct: 0.3,
      size_pct: 0.08,
      sizing: 'fixed',
      rationale: 'momentum: long BTC, up',
    })
    expect(intentOf({ stopPct: null, targetPct: null })).toMatchObject({
      stop_loss_pct: null,
      take_profit_pct: null,
    })
  })

  it('are bounded by the limits, however large the size that it asks for', () => {
    const opened = (more: Partial<Proposal>) =>
      payloadOf(scenario().do(proposal('long', 75, more)), 'execution.order_submitted.v1')
    const large = opened({ sizePct: 5 })
    expect(large).toMatchObject({ size_notional: 1000, limits: { size_pct: 50_000, position: 1000 } })
    expect(large['limits']).not.toHaveProperty('kelly')
    expect(opened({})['limits']).toHaveProperty('kelly')
    // Without a stop the whole position may be lost, and the heat limit counts it fully.
    expect(opened({ sizePct: 0.1, stopPct: null })).toMatchObject({ sizing: { bound_by: ['heat'] } })
  })

  it('name the call that it is', () => {
    const call = signalId('01900000-0000-7000-8000-000000000001')
    expect(intentOf({ signalId: call })).toMatchObject({
      signal_ids: [call],
      attribution: [{ signal_id: call, weight: 1 }],
    })
  })

  it('wait for an operator where those of the brain do', () => {
    const live = new TradingScenario({ execution: { require_approval: true } })
    live.bar('BTC', 100)
    expect(payloadOf(live.do(proposal('long', 95)), 'execution.trade_intent.v1')).toMatchObject({
      approval_required: true,
      status: 'awaiting_approval',
    })
    // A second proposal is ignored while the first intent waits.
    expect(live.do(proposal('short', 75))).toEqual([])
  })
})

describe.each([
  ['with real money', { mode: 'live' }],
  ['on paper, with approvals', { mode: 'paper', require_approval: true }],
] as const)('a trade %s', (_, mode) => {
  const statusOf = (sizePct: number, threshold: number) => {
    const live = new TradingScenario({
      execution: { ...mode, confirmation_threshold_usd: threshold },
    })
    live.bar('BTC', 100)
    return payloadOf(live.do(proposal('long', 75, { sizePct })), 'execution.trade_intent.v1')['status']
  }

  it('waits for an operator from the size on that the settings name, and only then', () => {
    expect(statusOf(0.05, 500)).toBe('awaiting_approval')
    expect(statusOf(0.049, 500)).toBe('ready')
    // The limits leave a tenth of the account, whatever was asked for.
    expect(statusOf(5, 1000)).toBe('awaiting_approval')
    expect(statusOf(5, 1000.01)).toBe('ready')
  })
})

describe('a strategy', () => {
  it('is flat: what it opened is closed', () => {
    const held = scenario()
    held.do(proposal('long'))
    const events = held.do(proposal('flat'))
    expect(payloadOf(events, 'execution.position_closed.v1')).toMatchObject({ exit_reason: 'bias_flip' })
    expect(held.do(proposal('flat'))).toEqual([])
  })

  it('keeps what it opened when the brain turns around; itself and the operator close it', () => {
    const held = scenario()
    held.do(proposal('long'))
    expect(held.do({ kind: 'exit-symbol', symbol: canonicalSymbol('BTC'), direction: 'short' })).toEqual([])
    expect(held.state.trading.book.count).toBe(1)
    held.do(proposal('flat'))
    expect(held.state.trading.book.count).toBe(0)
    held.do(proposal('long'))
    held.do({ kind: 'close-all', by: { surface: 'cli', operator: 'local' } })
    expect(held.state.trading.book.count).toBe(0)
  })

  it('closes nothing that the brain opened, and enters nothing beside it', () => {
    const held = scenario()
    held.intend()
    expect(held.state.trading.book.count).toBe(1)
    for (const direction of ['flat', 'short'] as const) expect(held.do(proposal(direction))).toEqual([])
    expect(held.state.trading.book.count).toBe(1)
  })

  it('closes nothing that another one opened, and enters nothing beside it', () => {
    const held = scenario()
    held.do(proposal('long'))
    const other = { rule: 'mom' }
    expect(held.do(proposal('flat', 75, other))).toEqual([])
    expect(held.do(proposal('short', 75, other))).toEqual([])
    expect(held.state.trading.book.count).toBe(1)
  })
})

describe('a trailing stop', () => {
  const stopOf = (held: TradingScenario): number | undefined =>
    [...held.state.trading.positions.values()].map(
      ({ holding }) => priceNumberOrNull(holding.stopLoss) ?? 0,
    )[0]

  it('follows the best price, never back, and for the bars after it', () => {
    const held = scenario()
    held.do(proposal('long', 75, { stopPct: 0.1, trailingPct: 0.1, targetPct: null }))
    const first = stopOf(held) ?? 0
    expect(first).toBeCloseTo(90, 0)
    held.bar('BTC', 105, { high: 110, low: 100 })
    expect(stopOf(held)).toBeCloseTo(99, 0)
    held.bar('BTC', 104, { high: 106, low: 100 })
    expect(stopOf(held)).toBeCloseTo(99, 0)
    const events = held.bar('BTC', 98, { high: 104, low: 98 })
    expect(payloadOf(events, 'execution.position_closed.v1')).toMatchObject({ exit_reason: 'stop_loss' })
  })

  it('follows a short down', () => {
    const held = scenario()
    held.do(proposal('short', 75, { stopPct: 0.1, trailingPct: 0.1, targetPct: null }))
    held.bar('BTC', 95, { high: 100, low: 90 })
    expect(stopOf(held)).toBeCloseTo(99, 0)
  })

  it('stays where it is for steps that are too small to matter', () => {
    const held = scenario()
    held.do(proposal('long', 75, { stopPct: 0.1, trailingPct: 0.1 }))
    const before = stopOf(held)
    held.bar('BTC', 100.1)
    expect(stopOf(held)).toBe(before)
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
