import { describe, expect, it } from 'vitest'
import { BEGIN, Desk, MINUTE_MS, payloadOf, typesOf } from './trading.fixture.ts'
import type { FeedBar } from '../market/bar.ts'
import { DAY_MS } from '../shared/time.ts'

const HOUR_MS = 60 * MINUTE_MS
const by = { operator: 'svc-1', surface: 'api' } as const
const level = (to: 0 | 1 | 2 | 3) =>
  ({
    kind: 'set-kill-switch',
    move: { level: to, reason: 'test', operator: 'svc-1', surface: 'api' },
  }) as const

const longAt100 = (desk = new Desk()): Desk => {
  desk.bar('BTC', 100)
  desk.intend()
  return desk
}
const closingOf = (desk: Desk) => payloadOf(desk.log, 'execution.position_closed.v1')
const statusesOf = (desk: Desk) => [...desk.state.trading.positions.values()].map(({ status }) => status)

describe('a bar', () => {
  it.each<[string, Partial<FeedBar>, object | null]>([
    ['that stays inside', { high: 109, low: 96 }, null],
    ['that touches the stop', { low: 95.0475 }, { exit_reason: 'stop_loss', trigger: { price: 95.0475 } }],
    ['that touches the target', { high: 110.055 }, { exit_reason: 'take_profit' }],
    ['that touches both', { low: 90, high: 120 }, { exit_reason: 'stop_loss', trigger: { price: 95.0475 } }],
    ['that gaps below the stop', { open: 94, low: 93 }, { exit_reason: 'stop_loss', trigger: { price: 94 } }],
    ['that gaps above the target', { open: 115 }, { exit_reason: 'take_profit', trigger: { price: 115 } }],
  ])('%s', (_, range, closing) => {
    const desk = longAt100()
    desk.bar('BTC', 100, range)
    if (closing === null) expect(statusesOf(desk)).toEqual(['monitoring'])
    else expect(closingOf(desk)).toMatchObject(closing)
  })

  it('counts only by its close for a position that was opened inside it', () => {
    const desk = new Desk()
    desk.bar('BTC', 100)
    desk.wait(1)
    desk.intend()
    desk.wait(-1)
    desk.bar('BTC', 96, { low: 80, high: 130 })
    expect(statusesOf(desk)).toEqual(['monitoring'])
    desk.bar('BTC', 96, { low: 95 })
    expect(statusesOf(desk)).toEqual(['closed'])
  })

  it('of the past, of another symbol or that is held decides nothing', () => {
    const desk = longAt100()
    desk.bar('ETH', 1)
    desk.bar('BTC', 90, { backfill: true })
    desk.bar('BTC', 50)
    expect(statusesOf(desk)).toEqual(['open'])
    expect(desk.state.trading.killSwitch.level).toBe(0)
  })

  it('remembers how far it went either way', () => {
    const desk = longAt100()
    desk.bar('BTC', 100.05, { low: 97.0485, high: 104.052 })
    desk.bar('BTC', 100, { low: 90 })
    expect(closingOf(desk)).toMatchObject({ max_adverse_pct: 0.100449775, max_favorable_pct: 0.04 })
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
    const desk = longAt100()
    const seen = [100, 98, 97.5, 98].map((price) => {
      desk.bar('BTC', price)
      return statusesOf(desk)[0]
    })
    expect(seen).toEqual(['monitoring', 'monitoring', 'degrading', 'monitoring'])
  })

  it('degrades when nobody tells a price', () => {
    const desk = longAt100()
    desk.bar('BTC', 100)
    desk.wait(180_000)
    expect(desk.do({ kind: 'check-positions' })).toEqual([])
    desk.wait(1)
    expect(payloadOf(desk.do({ kind: 'check-positions' }), 'execution.position_updated.v1')).toMatchObject({
      status: 'degrading',
      reason: 'mark_too_old',
    })
    expect(desk.do({ kind: 'check-positions' })).toEqual([])
    desk.wait(MINUTE_MS - 1)
    desk.bar('BTC', 100)
    expect(statusesOf(desk)).toEqual(['monitoring'])
  })
})

describe('under lockdown', () => {
  it('a stop is only told, again every quarter of an hour, until an operator lowers', () => {
    const desk = longAt100()
    desk.do(level(3))
    const first = desk.bar('BTC', 94)
    expect(typesOf(first)).toEqual(['market.bar.v1', 'alert.stop_triggered'])
    expect(payloadOf(first, 'alert.stop_triggered')).toMatchObject({ realized_pnl: null, repeat: 0 })
    // It is told until somebody acts, even if the price comes back.
    for (let minute = 1; minute < 15; minute += 1)
      expect(typesOf(desk.bar('BTC', 99))).toEqual(['market.bar.v1'])
    expect(payloadOf(desk.bar('BTC', 94), 'alert.stop_triggered')['repeat']).toBe(1)
    desk.wait(15 * MINUTE_MS)
    expect(payloadOf(desk.do({ kind: 'check-positions' }), 'alert.stop_triggered')['repeat']).toBe(2)
    desk.bar('BTC', 94)
    const lowered = desk.do(level(1))
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
    const desk = longAt100()
    desk.do(level(3))
    expect(typesOf(desk.bar('BTC', 111))).toEqual(['market.bar.v1', 'alert.target_hit'])
  })

  it('an operator may still close', () => {
    const desk = longAt100()
    desk.do(level(3))
    const [id = ''] = desk.state.trading.positions.keys()
    expect(typesOf(desk.do({ kind: 'close-position', positionId: id, by }))).toEqual([
      'execution.order_submitted.v1',
      'execution.order_filled.v1',
      'execution.position_closed.v1',
      'learning.outcome.v1',
    ])
    expect(closingOf(desk)).toMatchObject({ exit_reason: 'manual', trigger: null })
  })
})

it.each([0, 1, 2] as const)('a stop is left in the same batch at level %d', (to) => {
  const desk = longAt100()
  if (to > 0) desk.do(level(to))
  desk.bar('BTC', 94)
  expect(statusesOf(desk)).toEqual(['closed'])
})

describe('by hand', () => {
  it('closes once, and refuses what cannot be closed', () => {
    const desk = longAt100()
    const [id = ''] = desk.state.trading.positions.keys()
    expect(desk.refusalOf({ kind: 'close-position', positionId: 'nobody', by })).toBe('position.not_found')
    desk.wait(DAY_MS)
    expect(desk.refusalOf({ kind: 'close-position', positionId: id, by })).toBe('price.unavailable')
    desk.bar('BTC', 101)
    desk.do({ kind: 'close-position', positionId: id, by })
    expect(desk.refusalOf({ kind: 'close-position', positionId: id, by })).toBe('position.not_open')
  })

  it('closes all, and records what has no price', () => {
    const desk = new Desk()
    desk.bars([
      ['BTC', 100],
      ['ETH', 3000],
    ])
    desk.intend()
    desk.intend({ symbol: 'ETH', direction: 'short' })
    for (let minute = 0; minute < 5; minute += 1) desk.bar('BTC', 100)
    const events = desk.do({ kind: 'close-all', by })
    expect(payloadOf(events, 'execution.position_closed.v1')).toMatchObject({ asset: 'BTC' })
    expect(payloadOf(events, 'execution.order_failed.v1')).toMatchObject({
      symbol: 'ETH',
      reasons: ['no_price'],
    })
    desk.bar('ETH', 3000)
    desk.do({ kind: 'close-all', by })
    expect(statusesOf(desk)).toEqual(['closed', 'closed'])
    expect(desk.do({ kind: 'close-all', by })).toEqual([])
  })
})

describe('a brain that turned around', () => {
  it('ends what stands against it, and only that', () => {
    const desk = longAt100()
    expect(desk.do({ kind: 'exit-symbol', symbol: 'BTC', direction: 'long' })).toEqual([])
    desk.do({ kind: 'exit-symbol', symbol: 'btc/usdt', direction: 'short' })
    expect(closingOf(desk)).toMatchObject({ exit_reason: 'bias_flip' })
  })

  it('does not without a price, nor under lockdown', () => {
    const desk = longAt100()
    desk.do(level(3))
    expect(desk.do({ kind: 'exit-symbol', symbol: 'BTC', direction: 'short' })).toEqual([])
    desk.do(level(0))
    desk.wait(DAY_MS)
    expect(desk.do({ kind: 'exit-symbol', symbol: 'BTC', direction: 'short' })).toEqual([])
  })
})

describe('a price that a producer tells', () => {
  const tell = (desk: Desk, price: number, producerId = 'ticker') =>
    desk.do({
      kind: 'emit-signal',
      emission: {
        producerId,
        type: 'signal.price_ws.v1',
        payload: { symbol: 'BTC', price },
        ts: null,
        dedupeKey: null,
      },
    })
  const onQuotes = (): Desk => {
    const desk = new Desk()
    for (const name of ['ticker', 'other'])
      desk.do({
        kind: 'register-producer',
        producer: { name, domain: 'technical', endpoint: 'https://example.com', schedule: '* * * * *' },
        surface: 'api',
      })
    tell(desk, 100)
    desk.intend()
    desk.wait(1000)
    return desk
  }

  it('moves the mark and ends at the stop', () => {
    const desk = onQuotes()
    tell(desk, 101)
    expect([...desk.state.trading.positions.values()]).toMatchObject([
      { status: 'monitoring', mark: { price: 101 } },
    ])
    desk.wait(1000)
    tell(desk, 94)
    expect(closingOf(desk)).toMatchObject({ exit_reason: 'stop_loss', trigger: { kind: 'quote', price: 94 } })
  })

  it('counts for nothing where there is a feed, unless its name is trusted', () => {
    const desk = longAt100(new Desk({ market: { feed: 'file' } }))
    desk.wait(1)
    desk.do({
      kind: 'register-producer',
      producer: {
        name: 'ticker',
        domain: 'technical',
        endpoint: 'https://example.com',
        schedule: '* * * * *',
      },
      surface: 'api',
    })
    tell(desk, 94)
    expect(statusesOf(desk)).toEqual(['open'])
    desk.configure({ market: { trusted_price_sources: ['ticker'] } })
    desk.wait(1)
    tell(desk, 94)
    expect(statusesOf(desk)).toEqual(['closed'])
  })

  it('is not believed at once when it is absurd: no halt, no exit', () => {
    const desk = onQuotes()
    tell(desk, 1)
    expect(statusesOf(desk)).toEqual(['open'])
    expect(desk.state.trading.killSwitch.level).toBe(0)
    // It stays so for longer than a price is young: then it is what it is.
    desk.wait(181_000)
    tell(desk, 1)
    expect(statusesOf(desk)).toEqual(['closed'])
  })
})

it('a start looks at the stops before anything else', () => {
  const desk = longAt100()
  desk.tell({
    type: 'execution.position_updated.v1',
    source: 'oms',
    payload: {
      position_id: [...desk.state.trading.positions.keys()][0] ?? '',
      status: 'open',
      stop_loss: 95.0475,
      take_profit: 110.055,
      reason: 'price',
      quantity: 4.99750124,
      loss_at_stop_usd: 25.522358,
      mark_price: 94,
    },
  })
  const events = desk.do({
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
  const at = '2026-02-20T08:00:00.000Z'
  const desk = longAt100()
  expect(desk.do({ kind: 'apply-funding', at })).toEqual([])
  desk.bar('BTC', 100, { funding_annualized: 10 })
  expect(desk.do({ kind: 'apply-funding', at: BEGIN })).toEqual([])
  expect(desk.do({ kind: 'apply-funding', at: '2026-02-20T16:00:00.000Z' })).toEqual([])
  expect(desk.do({ kind: 'apply-funding', at })).toHaveLength(1)
  desk.configure({ execution: { apply_funding: false } })
  expect(desk.do({ kind: 'apply-funding', at })).toEqual([])
})
