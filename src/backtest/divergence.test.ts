import { describe, expect, it } from 'vitest'
import type { Stamped } from '../core/log/event.ts'
import { timestampAt } from '../core/shared/time.ts'
import type { JsonObject } from '../core/shared/json.ts'
import { divergenceOf, type DivergenceReason } from './divergence.ts'
import { TradeBook } from './trade-book.ts'

const BEGAN_MS = Date.parse('2026-02-20T10:00:00.000Z')

/** A log by hand: minutes after ten o'clock, and what was said. */
const bookOf = (...said: readonly (readonly [minute: number, type: string, payload: JsonObject])[]) => {
  const book = new TradeBook()
  for (const [index, [minute, type, payload]] of said.entries()) {
    const ts = timestampAt(BEGAN_MS + minute * 60_000)
    const event: Stamped = {
      seq: index + 1,
      id: `e${index}`,
      type,
      ts,
      source: null,
      traceId: null,
      dedupeKey: null,
      payload,
      recordedAt: ts,
    }
    book.take(event)
  }
  book.end()
  return book
}

type Said = readonly [number, string, JsonObject]

interface TradeGiven {
  readonly at?: number
  readonly entry?: number
  readonly ordered?: number
  readonly quantity?: number
  readonly until?: number | null
  readonly exit?: number
  readonly fees?: number
  readonly reason?: string
  readonly by?: string
  readonly rule?: string
}

/** A long in BTC, by default bought at 100 and sold at 110 an hour later. */
const trade = (given: TradeGiven = {}): readonly Said[] => {
  const { at = 1, entry = 100, quantity = 2, ordered = quantity, until = 61, exit = 110, fees = 1 } = given
  const conviction_id = given.rule === undefined ? `c${at}` : `${given.rule}:2026-02-20T10:00:00.000Z`
  const ids = { order_id: `o${at}`, position_id: `p${at}`, intent_id: `i${at}` }
  const opened: readonly Said[] = [
    [at, 'brain.cycle.v1', {}],
    [
      at,
      'execution.order_submitted.v1',
      { ...ids, quantity: ordered, exit_reason: null, reduce_only: false },
    ],
    [
      at,
      'execution.order_filled.v1',
      { ...ids, fill_size: quantity, notional_usd: quantity * entry, fee_usd: 0.5, fill_no: 1 },
    ],
    [
      at,
      'execution.position_opened.v1',
      { ...ids, conviction_id, asset: 'BTC', direction: 'long', entry_price: entry, quantity, fees_usd: 0.5 },
    ],
  ]
  if (until === null) return opened
  const closed = {
    ...ids,
    asset: 'BTC',
    exit_price: exit,
    realized_pnl: quantity * (exit - entry) - fees,
    fees_usd: fees,
    funding_usd: 0,
    exit_reason: given.reason ?? 'take_profit',
    ...(given.by === undefined ? {} : { closed_by: given.by }),
  }
  return [...opened, [until, 'execution.position_closed.v1', closed]]
}

const bar = (minute: number, close: number): Said => [minute, 'market.bar.v1', { symbol: 'BTC', close }]

const failed = (minute: number, ...reasons: readonly string[]): Said => [
  minute,
  'execution.order_failed.v1',
  { order_id: `f${minute}`, intent_id: 'i', symbol: 'BTC', reasons, details: {} },
]

const cycles: readonly Said[] = [0, 1, 2, 3, 4, 5].map((minute) => [minute, 'brain.cycle.v1', {}])

const level = (minute: number, to: number): Said => [
  minute,
  'system.kill_switch.v1',
  { level: to, prev_level: 0, reason: 'x' },
]

const started = (minute: number, configuration: JsonObject): Said => [
  minute,
  'system.started.v1',
  { configuration },
]

const compared = (live: readonly Said[], replayed: readonly Said[]) =>
  divergenceOf({
    live: bookOf(...live),
    replayed: bookOf(...replayed),
    toleranceMs: 300_000,
    settings: 'recorded',
    fromMs: BEGAN_MS,
    toMs: BEGAN_MS + 7_200_000,
  })

describe('the divergence of what happened from its replay', () => {
  it('is none for the same trades', () => {
    const report = compared(trade(), trade())
    expect(report).toMatchObject({ difference_usd: 0, by_reason: {}, live_trades: 1, replayed_trades: 1 })
    expect(report.rows).toMatchObject([{ symbol: 'BTC', difference_usd: 0, reasons: {} }])
  })

  const OF_BOTH: readonly (readonly [DivergenceReason, number, TradeGiven])[] = [
    ['slippage', -1, { entry: 100.5 }],
    ['slippage', -2, { exit: 109 }],
    ['delay', -4, { at: 4, entry: 102 }],
    ['delay', -4, { until: 70, exit: 108 }],
    ['partial_fill', -10, { quantity: 1, ordered: 2 }],
    ['size', 10, { quantity: 3 }],
    ['costs', -2, { fees: 3 }],
    ['operator', -14, { exit: 103, until: 30, reason: 'manual', by: 'op' }],
    ['delay', -14, { exit: 103, until: 30, reason: 'time_stop' }],
  ]

  it.each(OF_BOTH)('is %s: %d USD', (reason, amount, given) => {
    const { by_reason, difference_usd, rows } = compared(trade(given), trade())
    expect(by_reason).toEqual({ [reason]: amount })
    expect(difference_usd).toBeCloseTo(amount, 9)
    expect(rows[0]?.reasons).toEqual(by_reason)
  })

  const NOT_LIVE: readonly (readonly [DivergenceReason, readonly Said[]])[] = [
    ['approval', [...cycles, failed(50, 'expired')]],
    ['approval', [...cycles, failed(2, 'approval_denied')]],
    ['kill_switch', [...cycles, failed(1, 'kill_switch')]],
    ['kill_switch', [...cycles, level(0, 2), level(9, 0)]],
    ['price_checks', [...cycles, failed(1, 'price_moved')]],
    ['limits', [...cycles, failed(1, 'heat_limit')]],
    ['configuration', [...cycles, [0, 'system.config_changed.v1', { changed: [], config_hash: 'h' }]]],
    ['configuration', [...cycles, started(-60, {}), started(0, { brain: { min_domains: 2 } })]],
    ['unexplained', [...cycles, started(-60, {}), started(0, {})]],
    ['missed', [bar(1, 100), bar(60, 110)]],
    ['unexplained', cycles],
  ]

  it.each(NOT_LIVE)('is %s where only the replay traded', (reason, live) => {
    const report = compared(live, trade())
    expect(report.rows).toMatchObject([{ live: null, difference_usd: -19 }])
    expect(report.by_reason).toEqual({ [reason]: -19 })
  })

  const NOT_REPLAYED: readonly (readonly [DivergenceReason, readonly Said[]])[] = [
    ['kill_switch', [...cycles, level(0, 3)]],
    ['limits', [...cycles, failed(1, 'drawdown_limit')]],
    ['unexplained', cycles],
  ]

  it.each(NOT_REPLAYED)('is %s where only the real one traded', (reason, replayed) => {
    const report = compared(trade(), replayed)
    expect(report.rows).toMatchObject([{ replayed: null, difference_usd: 19 }])
    expect(report.by_reason).toEqual({ [reason]: 19 })
  })

  it('is that of a strategy where one traded, beside what the brain did at the same time', () => {
    const report = compared([...trade({ rule: 'mine', exit: 90 }), ...trade({ at: 2 })], trade())
    expect(report.by_reason).toEqual({ strategy: -21 })
    expect(report.rows).toMatchObject([{ replayed: null }, { difference_usd: 0 }])
  })

  it('is an earlier difference where a position of before stood in the way', () => {
    const held = trade({ at: -60, until: 90, exit: 100 })
    const report = compared([...held, ...cycles], trade())
    expect(report.by_reason).toMatchObject({ earlier_difference: -19 })
  })

  it('counts open positions at the last price, and adds up whatever the trades are', () => {
    const live = [
      ...trade({ entry: 101, until: null }),
      bar(80, 95),
      ...trade({ at: 100, until: 110, exit: 90, quantity: 5 }),
    ]
    const replayed = [
      ...trade({ until: null }),
      bar(80, 97),
      ...trade({ at: 102, until: 115, quantity: 4, fees: 2 }),
    ]
    const report = compared(live, replayed)
    const sum = Object.values(report.by_reason).reduce((total, amount) => total + amount, 0)
    expect(sum).toBeCloseTo(report.difference_usd, 6)
    expect(report.difference_usd).toBeCloseTo(report.live_pnl_usd - report.replayed_pnl_usd, 6)
    expect(report.by_reason).not.toHaveProperty('unexplained')
    const rows = report.rows.reduce((total, row) => total + row.difference_usd, 0)
    expect(rows).toBeCloseTo(report.difference_usd, 6)
  })

  it('shows what no reason explains', () => {
    const live = trade().map(([minute, type, payload]): Said => [
      minute,
      type,
      type === 'execution.position_closed.v1' ? { ...payload, realized_pnl: 25 } : payload,
    ])
    expect(compared(live, trade()).by_reason).toEqual({ unexplained: 6 })
  })
})
