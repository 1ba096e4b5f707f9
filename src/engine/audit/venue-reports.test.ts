import { expect, it } from 'vitest'
import { configurationWith, rewritten } from '../../../test/simulated-day.fixture.ts'
import { testClock, testSigner } from '../../../test/signer.fixture.ts'
import { signatures } from '../../adapters/platform/signatures/signatures.ts'
import { MemoryLog } from '../../adapters/storage/memory/memory-log.ts'
import { configurationRecord } from '../../core/config/recorded.ts'
import type { Command } from '../../core/decide.ts'
import { barAt } from '../../core/market/bars.fixture.ts'
import { foldingOf } from '../../core/operations/decide.ts'
import { orderId } from '../../core/shared/brand.ts'
import type { JsonObject } from '../../core/shared/json.ts'
import { priceFrom, quantityFrom, usdFrom, type Quantity } from '../../core/shared/money.ts'
import { canonicalSymbol } from '../../core/shared/symbol.ts'
import { timestampAt } from '../../core/shared/time.ts'
import type { AccountSweep } from '../../core/trading/venue/account-differences.ts'
import { checkedVenue, fillOf, reportOf } from '../../core/trading/live.fixture.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { openEngine } from '../engine.fixture.ts'
import { sha256Hex } from '../sha256.ts'
import { auditDecisions } from './audit-decisions.ts'

const VERSION = '1.2.3'
/** Practice needs no paper period before. */
const VENUE = 'testvenue-sandbox'
const CONFIGURATION = configurationWith({
  execution: { mode: 'live', venue: VENUE, require_approval: false },
  market: { feed: 'none' },
})

/** An account at a venue: fills, a stop at the venue, a liquidation in parts, a missing position, and moved money. */
const liveLog = async () => {
  const log = new MemoryLog()
  const [signer, clock] = [testSigner(), testClock()]
  const engine = await openEngine(log, {
    signer,
    clock,
    configuration: () => CONFIGURATION,
    version: VERSION,
  })
  const execute = async (command: Command): Promise<void> => {
    expect((await engine.execute(command)).status, command.kind).toBe('done')
  }
  const started = {
    version: VERSION,
    node_id: signer.nodeId,
    public_key: signer.publicKey,
    ephemeral: false,
    integrity: { ok: true, reason: null, first_bad_seq: null },
    folding: foldingOf(CONFIGURATION),
    ...configurationRecord(CONFIGURATION, sha256Hex),
  }
  await execute({ kind: 'start', started })
  const bars = ['BTC', 'ETH', 'SOL'].map((symbol) => barAt('2026-02-20T00:29:00.000Z', 100, { symbol }))
  await execute({ kind: 'observe-bars', observation: { feed: `ccxt:${VENUE}`, bars } })
  const confirmation = { venue: VENUE, operator: 'op', configHash: 'hash', equity: usdFrom(10_000) }
  await execute({ kind: 'confirm-live', confirmation })
  const { kind, check } = checkedVenue(true, ['BTC', 'ETH', 'SOL'], true)
  await execute({ kind, check: { ...check, venue: VENUE } })
  const quotes = ['BTC', 'ETH', 'SOL'].map((symbol) => ({ symbol, price: priceFrom(100) }))
  await execute({ kind: 'record-venue-quotes', quotes: { venue: VENUE, quotes } })
  const openOrders = () => [...engine.state.trading.orders.open.values()]
  const enter = async (symbol: string): Promise<Quantity> => {
    const proposal = { rule: 'mine', symbol, direction: 'long', conviction: 80, sizePct: 0.02 } as const
    await execute({ kind: 'propose-trade', proposal })
    const order = openOrders().find((one) => one.symbol === symbol)
    if (order === undefined) throw new Error(`no order in ${symbol}`)
    const [half, whole] = [Number(order.quantity) / 2e8, Number(order.quantity) / 1e8]
    const fills = [
      { ...fillOf(`${symbol}-1`, 100, half), atMs: clock.now() },
      { ...fillOf(`${symbol}-2`, 100.1, half), atMs: clock.now() },
    ]
    const report = (count: number) => reportOf(count === 1 ? 'partial' : 'filled', fills.slice(0, count))
    await execute({ kind: 'record-report', orderId: order.id, report: report(1), lookups: null })
    await execute({ kind: 'mark-order-unknown', orderId: order.id, reason: 'no answer' })
    await execute({ kind: 'record-report', orderId: order.id, report: report(2), lookups: 2 })
    return quantityFrom(whole)
  }
  const stopOf = (symbol: string) => orderId(openOrders().find((one) => one.symbol === symbol)?.id ?? '')
  const quantity = await enter('BTC')
  // While the kill switch blocks exits, a price beyond the stop leads to an alert alone.
  const moveTo = (level: 0 | 3): Promise<void> =>
    execute({ kind: 'set-kill-switch', move: { level, reason: 'test', operator: 'op', surface: 'api' } })
  await moveTo(3)
  const [btc, price] = [canonicalSymbol('BTC'), priceFrom(94.5)]
  await execute({
    kind: 'observe-tick',
    tick: { symbol: btc, price, ts: timestampAt(clock.now()), confirms: price },
  })
  await moveTo(0)
  const stopped = [{ ...fillOf('BTC-3', 95, Number(quantity) / 1e8), atMs: clock.now() + 900 }]
  clock.advance(1000)
  await execute({
    kind: 'record-report',
    orderId: stopOf('BTC'),
    report: reportOf('filled', stopped),
    lookups: null,
  })
  const held = await enter('ETH')
  const sweep = (changes: Partial<AccountSweep>, symbol: string): AccountSweep => ({
    venue: VENUE,
    positions: [],
    liquidations: [],
    quietSymbols: [canonicalSymbol(symbol)],
    ...changes,
  })
  const part = { symbol: 'ETH', direction: 'long', feeUsd: usdFrom(0.02) } as const
  clock.advance(1000)
  const liquidations = [
    {
      ...part,
      venueTradeId: 'z',
      quantity: quantityFrom(Number(held) / 2e8),
      price: priceFrom(80),
      atMs: clock.now() - 20,
    },
    {
      ...part,
      venueTradeId: 'a',
      quantity: quantityFrom(Number(held) / 2e8),
      price: priceFrom(70),
      atMs: clock.now() - 10,
    },
  ]
  // Accounts are compared where no order is under way.
  for (const { id, symbol } of openOrders().toReversed())
    if (symbol === 'BTC') await execute({ kind: 'record-unsent', orderId: id, reason: 'not wanted' })
    else {
      const report = { ...reportOf('open'), venueOrderId: 'stop' }
      await execute({ kind: 'record-report', orderId: id, report, lookups: null })
    }
  await execute({ kind: 'compare-account', sweep: sweep({ liquidations }, 'ETH') })
  for (const { id } of openOrders())
    await execute({ kind: 'record-report', orderId: id, report: reportOf('canceled'), lookups: null })
  await execute({ kind: 'record-capital', sweep: sweep({ balance: usdFrom(9000) }, 'ETH') })
  await engine.close()
  return { log, signer }
}

const auditOf = (log: EventLog) =>
  auditDecisions(log, {
    trust: { signatures, own: testSigner(), firstHash: null },
    configuration: CONFIGURATION,
    version: VERSION,
    from: null,
    to: null,
    onProgress: () => undefined,
  })

it('decides again what the engine made of the reports of a venue', async () => {
  const { log, signer } = await liveLog()
  const report = await auditOf(log)
  expect(report.findings).toEqual([])
  expect(report).toMatchObject({ ok: true, not_rerun: {} })
  const records = await log.read({ order: 'asc', limit: 1000 })
  const types = new Set(records.map(({ type }) => type))
  for (const type of [
    'execution.order_reconciled.v1',
    'execution.venue_stop_triggered.v1',
    'alert.stop_triggered',
    'execution.position_closed.v1',
    'execution.capital_moved.v1',
  ])
    expect(types).toContain(type)
  // An insider with the key changes the result of a trade, what is left of an order, and a loss into a withdrawal.
  const changes: readonly (readonly [string, JsonObject])[] = [
    ['execution.position_closed.v1', { realized_pnl: 99.5 }],
    ['execution.order_filled.v1', { remaining_size: 0.001 }],
    ['alert.execution', { message: 'nothing happened' }],
  ]
  for (const [type, change] of changes) {
    const changed = records.findLast((record) => record.type === type)
    const tampered = await rewritten(log, signer, (record) =>
      record.seq === changed?.seq ? { ...(JSON.parse(record.payload) as JsonObject), ...change } : null,
    )
    expect((await auditOf(tampered)).findings[0], type).toMatchObject({ seq: changed?.seq, type })
  }
})
