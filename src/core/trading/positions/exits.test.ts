import { canonicalSymbol } from '../../shared/symbol.ts'
import { priceFrom } from '../../shared/money.ts'
import { timestampOf, positionId } from '../../shared/brand.ts'
import { describe, expect, it } from 'vitest'
import { BEGIN, TradingScenario, MINUTE_MS, payloadOf, typesOf } from '../trading.fixture.ts'
import type { FeedBar } from '../../market/bar.ts'
import { DAY_MS } from '../../shared/time.ts'

const HOUR_MS = 60 * MINUTE_MS
const by = { operator: 'svc-1', surface: 'api' } as const
const level = (to: 0 | 1 | 2 | 3) =>
  ({
    kind: 'set-kill-switch',
    move: { level: to, reason: 'test', operator: 'svc-1', surface: 'api' },
  }) as const

const longAt100 = (scenario = new TradingScenario()): TradingScenario => {
  scenario.bar('BTC', 100)
  scenario.intend()
  return scenario
}
const closingOf = (scenario: TradingScenario) => payloadOf(scenario.log, 'execution.position_closed.v1')
const statusesOf = (scenario: TradingScenario) =>
  [...scenario.state.trading.positions.values()].map(({ status }) => status)

describe('a bar', () => {
  it.each<[string, Partial<FeedBar>, object | null]>([
    ['that stays inside', { high: 109, low: 96 }, null],
    ['that touches the stop', { low: 95.0475 }, { exit_reason: 'stop_loss', trigger: { price: 95.0475 } }],
    ['that touches the target', { high: 110.055 }, { exit_reason: 'take_profit' }],
    ['that touches both', { low: 90, high: 120 }, { exit_reason: 'stop_loss', trigger: { price: 95.0475 } }],
    ['that gaps below the stop', { open: 94, low: 93 }, { exit_reason: 'stop_loss', trigger: { price: 94 } }],
    ['that gaps above the target', { open: 115 }, { exit_reason: 'take_profit', trigger: { price: 115 } }],
  ])('%s', (_, range, closing) => {
    const scenario = longAt100()
    scenario.bar('BTC', 100, range)
    if (closing === null) expect(statusesOf(scenario)).toEqual(['monitoring'])
    else expect(closingOf(scenario)).toMatchObject(closing)
  })

  it('counts only by its close for a position that was opened inside it', () => {
    const scenario = new TradingScenario()
    scenario.bar('BTC', 100)
    scenario.wait(1)
    scenario.intend()
    scenario.wait(-1)
    scenario.bar('BTC', 96, { low: 80, high: 130 })
    expect(statusesOf(scenario)).toEqual(['monitoring'])
    scenario.bar('BTC', 96, { low: 95 })
    expect(statusesOf(scenario)).toEqual(['closed'])
  })

  it('of the past, of another symbol or that is held decides nothing', () => {
    const scenario = longAt100()
    scenario.bar('ETH', 1)
    scenario.bar('BTC', 90, { backfill: true })
    scenario.bar('BTC', 50)
    expect(statusesOf(scenario)).toEqual(['open'])
    expect(scenario.state.trading.killSwitch.level).toBe(0)
  })

  it('remembers how far it went either way', () => {
    const scenario = longAt100()
    scenario.bar('BTC', 100.05, { low: 97.0485, high: 104.052 })
    scenario.bar('BTC', 100, { low: 90 })
    expect(closingOf(scenario)).toMatchObject({ max_adverse_pct: 0.100449775, max_favorable_pct: 0.04 })
  })
})

describe('time', () => {
  it('ends a losing position after 72 hours, any after 168', () => {
    const losing = longAt100()
    losing.wait(71 * HOUR_MS)
    losing.bar('BTC', 97)
    expect(statusesOf(losing)).not.toEqual(['closed'])
    losing.wait(HOUR_MS)
    losing.bar('BTC', 98)
    expect(statusesOf(losing)).not.toEqual(['closed'])
    losing.bar('BTC', 97)
    expect(closingOf(losing)).toMatchObject({ exit_reason: 'time_stop', trigger: { price: 97 } })
    expect(typesOf(losing.log)).not.toContain('alert.stop_triggered')
    const flat = longAt100()
    flat.wait(7 * DAY_MS)
    flat.bar('BTC', 101)
    expect(closingOf(flat)).toMatchObject({ exit_reason: 'time_stop' })
  })
})

describe('the state of a position', () => {
  it('degrades when half the way to the stop is lost, and recovers', () => {
    const scenario = longAt100()
    const seen = [100, 98, 97.5, 98].map((price) => {
      scenario.bar('BTC', price)
      return statusesOf(scenario)[0]
    })
    expect(seen).toEqual(['monitoring', 'monitoring', 'degrading', 'monitoring'])
  })

  it('degrades when nobody tells a price', () => {
    const scenario = longAt100()
    scenario.bar('BTC', 100)
    scenario.wait(180_000)
    expect(scenario.do({ kind: 'check-positions' })).toEqual([])
    scenario.wait(1)
    expect(
      payloadOf(scenario.do({ kind: 'check-positions' }), 'execution.position_updated.v1'),
    ).toMatchObject({
      status: 'degrading',
      reason: 'mark_too_old',
    })
    expect(scenario.do({ kind: 'check-positions' })).toEqual([])
    scenario.wait(MINUTE_MS - 1)
    scenario.bar('BTC', 100)
    expect(statusesOf(scenario)).toEqual(['monitoring'])
  })
})

describe('under lockdown', () => {
  it('a stop is only told, again every quarter of an hour, until an operator lowers', () => {
    const scenario = longAt100()
    scenario.do(level(3))
    const first = scenario.bar('BTC', 94)
    expect(typesOf(first)).toEqual(['market.bar.v1', 'alert.stop_triggered'])
    expect(payloadOf(first, 'alert.stop_triggered')).toMatchObject({ realized_pnl: null, repeat: 0 })
    // The alert repeats until an operator acts, even if the price recovers.
    for (let minute = 1; minute < 15; minute += 1)
      expect(typesOf(scenario.bar('BTC', 99))).toEqual(['market.bar.v1'])
    expect(payloadOf(scenario.bar('BTC', 94), 'alert.stop_triggered')['repeat']).toBe(1)
    scenario.wait(15 * MINUTE_MS)
    expect(payloadOf(scenario.do({ kind: 'check-positions' }), 'alert.stop_triggered')['repeat']).toBe(2)
    scenario.bar('BTC', 94)
    const lowered = scenario.do(level(1))
    expect(typesOf(lowered)).toEqual([
      'system.kill_switch.v1',
      'execution.order_submitted.v1',
      'execution.order_filled.v1',
      'execution.position_closed.v1',
      'alert.stop_triggered',
      'learning.outcome.v1',
    ])
    expect(payloadOf(lowered, 'alert.stop_triggered')).toMatchObject({ realized_pnl: expect.any(Number) })
  })

  it('a target is told as a target', () => {
    const scenario = longAt100()
    scenario.do(level(3))
    expect(typesOf(scenario.bar('BTC', 111))).toEqual(['market.bar.v1', 'alert.target_hit'])
  })

  it('an operator may still close', () => {
    const scenario = longAt100()
    scenario.do(level(3))
    const [id = ''] = scenario.state.trading.positions.keys()
    expect(typesOf(scenario.do({ kind: 'close-position', positionId: positionId(id), by }))).toEqual([
      'execution.order_submitted.v1',
      'execution.order_filled.v1',
      'execution.position_closed.v1',
      'learning.outcome.v1',
    ])
    expect(closingOf(scenario)).toMatchObject({ exit_reason: 'manual', trigger: null })
  })
})

it.each([0, 1, 2] as const)('a stop is left in the same batch at level %d', (to) => {
  const scenario = longAt100()
  if (to > 0) scenario.do(level(to))
  scenario.bar('BTC', 94)
  expect(statusesOf(scenario)).toEqual(['closed'])
})

describe('by hand', () => {
  it('closes once, and refuses what cannot be closed', () => {
    const scenario = longAt100()
    const [id = ''] = scenario.state.trading.positions.keys()
    expect(scenario.refusalOf({ kind: 'close-position', positionId: positionId('nobody'), by })).toBe(
      'position.not_found',
    )
    scenario.wait(DAY_MS)
    expect(scenario.refusalOf({ kind: 'close-position', positionId: positionId(id), by })).toBe(
      'price.unavailable',
    )
    scenario.bar('BTC', 101)
    scenario.do({ kind: 'close-position', positionId: positionId(id), by })
    expect(scenario.refusalOf({ kind: 'close-position', positionId: positionId(id), by })).toBe(
      'position.not_open',
    )
  })

  it('closes all, and records what has no price', () => {
    const scenario = new TradingScenario()
    scenario.bars([
      ['BTC', 100],
      ['ETH', 3000],
    ])
    scenario.intend()
    scenario.intend({ symbol: 'ETH', direction: 'short' })
    for (let minute = 0; minute < 5; minute += 1) scenario.bar('BTC', 100)
    const events = scenario.do({ kind: 'close-all', by })
    expect(payloadOf(events, 'execution.position_closed.v1')).toMatchObject({ asset: 'BTC' })
    expect(payloadOf(events, 'execution.order_failed.v1')).toMatchObject({
      symbol: 'ETH',
      reasons: ['no_price'],
    })
    scenario.bar('ETH', 3000)
    scenario.do({ kind: 'close-all', by })
    expect(statusesOf(scenario)).toEqual(['closed', 'closed'])
    expect(scenario.do({ kind: 'close-all', by })).toEqual([])
  })
})

describe('a brain that turned around', () => {
  it('ends what stands against it, and only that', () => {
    const scenario = longAt100()
    expect(scenario.do({ kind: 'exit-symbol', symbol: canonicalSymbol('BTC'), direction: 'long' })).toEqual(
      [],
    )
    scenario.do({ kind: 'exit-symbol', symbol: canonicalSymbol('btc/usdt'), direction: 'short' })
    expect(closingOf(scenario)).toMatchObject({ exit_reason: 'bias_flip' })
  })

  it('does not without a price, nor under lockdown', () => {
    const scenario = longAt100()
    scenario.do(level(3))
    expect(scenario.do({ kind: 'exit-symbol', symbol: canonicalSymbol('BTC'), direction: 'short' })).toEqual(
      [],
    )
    scenario.do(level(0))
    scenario.wait(DAY_MS)
    expect(scenario.do({ kind: 'exit-symbol', symbol: canonicalSymbol('BTC'), direction: 'short' })).toEqual(
      [],
    )
  })
})

describe('a price that a producer tells', () => {
  const report = (scenario: TradingScenario, price: number, producerId = 'ticker') =>
    scenario.do({
      kind: 'emit-signal',
      emission: {
        producerId,
        type: 'signal.price_ws.v1',
        payload: { symbol: 'BTC', price },
        ts: null,
        dedupeKey: null,
      },
    })
  const onQuotes = (): TradingScenario => {
    const scenario = new TradingScenario()
    for (const name of ['ticker', 'other'])
      scenario.do({
        kind: 'register-producer',
        producer: { name, domain: 'technical', endpoint: 'https://example.com', schedule: '* * * * *' },
        surface: 'api',
      })
    report(scenario, 100)
    scenario.intend()
    scenario.wait(1000)
    return scenario
  }

  it('moves the mark and ends at the stop', () => {
    const scenario = onQuotes()
    report(scenario, 101)
    expect([...scenario.state.trading.positions.values()]).toMatchObject([
      { status: 'monitoring', mark: { price: priceFrom(101) } },
    ])
    scenario.wait(1000)
    report(scenario, 94)
    expect(closingOf(scenario)).toMatchObject({
      exit_reason: 'stop_loss',
      trigger: { kind: 'quote', price: 94 },
    })
  })

  it('counts for nothing where there is a feed, unless its name is trusted', () => {
    const scenario = longAt100(new TradingScenario({ market: { feed: 'file' } }))
    scenario.wait(1)
    scenario.do({
      kind: 'register-producer',
      producer: {
        name: 'ticker',
        domain: 'technical',
        endpoint: 'https://example.com',
        schedule: '* * * * *',
      },
      surface: 'api',
    })
    report(scenario, 94)
    expect(statusesOf(scenario)).toEqual(['open'])
    scenario.configure({ market: { trusted_price_sources: ['ticker'] } })
    scenario.wait(1)
    report(scenario, 94)
    expect(statusesOf(scenario)).toEqual(['closed'])
  })

  it('is not believed at once when it is absurd: no halt, no exit', () => {
    const scenario = onQuotes()
    report(scenario, 1)
    expect(statusesOf(scenario)).toEqual(['open'])
    expect(scenario.state.trading.killSwitch.level).toBe(0)
    // The price stays for longer than the maximum age of a mark. The mark no longer contradicts it, so it is accepted.
    scenario.wait(181_000)
    report(scenario, 1)
    expect(statusesOf(scenario)).toEqual(['closed'])
  })
})

it('a start looks at the stops before anything else', () => {
  const scenario = longAt100()
  scenario.record({
    type: 'execution.position_updated.v1',
    source: 'oms',
    payload: {
      position_id: [...scenario.state.trading.positions.keys()][0] ?? '',
      status: 'open',
      stop_loss: 95.0475,
      take_profit: 110.055,
      reason: 'price',
      quantity: 4.99750124,
      loss_at_stop_usd: 25.522358,
      mark_price: 94,
    },
  })
  const events = scenario.do({
    kind: 'start',
    started: {
      version: '1',
      node_id: 'svc-1',
      public_key: 'ab',
      ephemeral: false,
      integrity: { ok: true, reason: null, first_bad_seq: null },
    },
  })
  expect(payloadOf(events, 'execution.position_closed.v1')).toMatchObject({
    exit_reason: 'stop_loss',
    trigger: { kind: 'mark', price: 94 },
  })
})

it('funding is charged to those that were open, if the rate is known and it is switched on', () => {
  const at = timestampOf('2026-02-20T08:00:00.000Z')
  const scenario = longAt100()
  expect(scenario.do({ kind: 'apply-funding', at })).toEqual([])
  scenario.bar('BTC', 100, { funding_annualized: 10 })
  expect(scenario.do({ kind: 'apply-funding', at: BEGIN })).toEqual([])
  expect(scenario.do({ kind: 'apply-funding', at: timestampOf('2026-02-20T16:00:00.000Z') })).toEqual([])
  expect(scenario.do({ kind: 'apply-funding', at })).toHaveLength(1)
  scenario.configure({ execution: { apply_funding: false } })
  expect(scenario.do({ kind: 'apply-funding', at })).toEqual([])
})
