import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSqliteLog } from '../../src/adapters/storage/sqlite/sqlite-log.ts'
import type { LogRecord } from '../../src/core/log/event.ts'
import type { State } from '../../src/core/state.ts'
import type { KillSwitchLevel } from '../../src/core/shared/level.ts'
import { catchUp, EMPTY_MEMORY } from '../../src/engine/memory.ts'
import type { Journal, JournalTrade, ScheduleRequest } from '../exchange-server/control.ts'
import { unitsOf } from '../exchange-server/decimals.ts'
import { fastNow } from '../exchange-server/fast-time.ts'
import { startRemoteExchange } from '../exchange-server/remote-exchange.ts'
import { volume } from '../generated.fixture.ts'
import { programOf } from '../program.fixture.ts'
import { randomOf, type Random } from './random.fixture.ts'
import type { TradingTask, Progress } from './kill-orders-process.ts'
import { startTradingProcess, type TradingProcess, type KillPoint } from './trading-process.fixture.ts'
import { allRecords, prepareForLive } from './live-engine.fixture.ts'

/** Minimum number of kills. Set SVC_TEST_ORDER_KILLS=500 for a long run. */
const KILLS = Number(process.env['SVC_TEST_ORDER_KILLS'] ?? volume({ normal: 8, full: 25 }))
const SEED = Number(process.env['SVC_TEST_SEED'] ?? 1)
/** A simulated minute takes three seconds. */
const SPEED = 20
const SYMBOLS = ['SOL', 'SUI', 'HYPE', 'XRP', 'ADA', 'DOT']
const START_CASH = 10_000_000_000n

const ORDER = '^POST .*/v1/order$'
const FAULTS: ScheduleRequest = {
  seed: SEED,
  share: 0.35,
  choices: [
    { request: ORDER, fault: { kind: 'drop' } },
    { request: ORDER, fault: { kind: 'done_then_drop' } },
    { request: ORDER, fault: { kind: 'slow', waitMs: 150 } },
    { request: ORDER, fault: { kind: 'done_then_slow', waitMs: 300 } },
    { request: ORDER, fault: { kind: 'done_then_garbage' } },
    { request: ORDER, fault: { kind: 'status', status: 502 } },
    { request: ORDER, fault: { kind: 'done_then_status', status: 503 } },
    { request: ORDER, fault: { kind: 'done_then_status', status: 400, code: -1007 } },
    { request: ORDER, fault: { kind: 'status', status: 429, retryAfterSeconds: 2 } },
    {
      request: ORDER,
      fault: { kind: 'refuse', status: 400, code: -2019, message: 'Margin is insufficient.' },
    },
    { request: ORDER, fault: { kind: 'lost' } },
    { request: ORDER, fault: { kind: 'hidden', lookups: 2 } },
    { request: ORDER, fault: { kind: 'partial', share: 0.5, rest: 'canceled' } },
    { request: ORDER, fault: { kind: 'partial', share: 0.5, rest: 'open' } },
    { request: ORDER, fault: { kind: 'late_trades', queries: 4 } },
    { request: '/userTrades$', fault: { kind: 'drop' } },
    { request: '/userTrades$', fault: { kind: 'status', status: 502 } },
    { request: '/userTrades$', fault: { kind: 'repeated' } },
    { request: '/userTrades$', fault: { kind: 'shuffled' } },
    { request: '^GET .*/v1/order$', fault: { kind: 'drop' } },
  ],
}

interface Simulation {
  readonly journal: Journal
  readonly records: readonly LogRecord[]
  readonly state: State
  /** Levels that a process found, next to what the one before had stored. */
  readonly levels: readonly { readonly stored: string; readonly found: string }[]
}

let folder = ''
let simulation: Simulation

beforeAll(
  async () => {
    folder = await mkdtemp(join(tmpdir(), 'kill-orders-'))
    simulation = await simulate(join(folder, 'log.db'))
  },
  560_000 + KILLS * 20_000,
)
afterAll(() => rm(folder, { recursive: true }))

const simulate = async (logPath: string): Promise<Simulation> => {
  const random = randomOf(SEED)
  const pace = { beginMs: Date.now(), speed: SPEED }
  const venue = await startRemoteExchange({ perpetuals: SYMBOLS, pace })
  const access = { baseUrl: venue.baseUrl, apiKey: venue.apiKey, secret: venue.secret }
  const taskOf = (kind: TradingTask['kind'], seed: number, level: TradingTask['level']): TradingTask => ({
    kind,
    seed,
    level,
    logPath,
    venue: access,
    pace,
    symbols: SYMBOLS,
  })
  const log = await openSqliteLog({ path: logPath })
  await prepareForLive(log, fastNow(pace))
  await venue.schedule(FAULTS)

  const program = programOf('simulation/kill-orders-process')
  const runs: (readonly Progress[])[] = []
  const beginNext = (): Next => {
    const level = random.happens(0.25) ? ((1 + random.below(3)) as KillSwitchLevel) : null
    const point = level === null ? pointOf(random) : levelPointOf(level, random)
    return { process: startTradingProcess(program, taskOf('trade', random.below(2 ** 31), level)), point }
  }
  let next = beginNext()
  try {
    // A lifetime lasts some seconds. On a busy machine little happens in them, and further ones follow until the hook has
    // no more time for them.
    const isEnough = async (): Promise<boolean> =>
      acceptedIn(await venue.journal()).length > KILLS / 4 &&
      new Set(levelsOf(runs).map(({ stored }) => stored)).size > 1 &&
      (await allRecords(log)).some(isOrderCutOff)
    for (let kill = 1; kill <= KILLS || !(await isEnough()); kill += 1) {
      const { process, point } = next
      next = beginNext()
      runs.push(await process.runUntil(point))
    }
    await venue.clearFaults()
    const last = startTradingProcess(program, taskOf('end', SEED, null))
    runs.push(await last.runToEnd())
  } finally {
    await next.process.discard()
  }

  const journal = await venue.journal()
  await venue.close()
  const records = await allRecords(log)
  const { state } = await catchUp(log, EMPTY_MEMORY, { trust: null })
  await log.close()
  return { journal, records, state, levels: levelsOf(runs) }
}

/** True for an order that was under way when its process was killed. */
const isOrderCutOff = ({ type, payload }: LogRecord): boolean =>
  type === 'execution.order_unknown.v1' && (JSON.parse(payload) as { reason: unknown }).reason === 'restart'

const acceptedIn = ({ attempts }: Journal): readonly string[] =>
  attempts.filter(({ outcome }) => outcome === 'accepted').map(({ clientOrderId }) => clientOrderId)

interface Next {
  readonly process: TradingProcess
  readonly point: KillPoint
}

/** While it starts, at any moment, and around a call to the venue. */
const pointOf = (random: Random): KillPoint => {
  const count = 1 + random.below(6)
  const points: readonly KillPoint[] = [
    { progress: 'open', count: 1, delayMs: random.below(100) },
    { progress: 'trading', count: 1, delayMs: random.below(1000) },
    { progress: 'sent', count, delayMs: random.below(15) },
    { progress: 'sent', count, delayMs: 0 },
    { progress: 'answered', count, delayMs: 0 },
    { progress: 'answered', count, delayMs: random.below(15) },
  ]
  return points[random.below(points.length)] ?? { progress: 'trading', count: 1, delayMs: 0 }
}

/** While the level changes, or after. */
const levelPointOf = (level: KillSwitchLevel, random: Random): KillPoint => ({
  progress: random.happens(0.5) ? 'level ?' : `level ${level}`,
  count: 1,
  delayMs: random.below(20),
})

const levelsOf = (runs: readonly (readonly Progress[])[]): Simulation['levels'] => {
  let stored: string | null = 'level 0'
  return runs.flatMap((lines) => {
    const reported: readonly string[] = lines.filter((line) => line.startsWith('level'))
    const before = stored
    const [found] = reported
    const last = reported.at(-1) ?? before
    // Killed while it changed: it may be either.
    stored = last === 'level ?' ? null : last
    return found === undefined || before === null ? [] : [{ stored: before, found }]
  })
}

const payloadsOf = (type: string): readonly Readonly<Record<string, unknown>>[] =>
  simulation.records.filter((record) => record.type === type).map(({ payload }) => JSON.parse(payload))

const exact = (text: string): bigint => unitsOf(text) ?? 0n

/** In millionths of a dollar; fees are never understated. */
const cashOf = ({ side, price, quantity, commission }: JournalTrade): bigint => {
  const notional = (exact(price) * exact(quantity)) / 10n ** 10n
  return (side === 'SELL' ? notional : -notional) - (exact(commission) + 99n) / 100n
}

describe('orders at a venue, by an engine that is killed again and again', () => {
  it('are accepted once each, and only after they were stored', () => {
    const accepted = acceptedIn(simulation.journal)
    expect(new Set(accepted).size).toBe(accepted.length)
    const submitted = payloadsOf('execution.order_submitted.v1').map(({ idempotency_key: key }) => key)
    expect(new Set(submitted).size).toBe(submitted.length)
    expect(accepted.filter((id) => !submitted.includes(id))).toEqual([])
    expect(accepted.length).toBeGreaterThan(KILLS / 4)
  })

  it('were under way when a process was killed', () => {
    expect(simulation.records.filter(isOrderCutOff).length).toBeGreaterThan(0)
  })

  it('have each of their trades in the log, once', () => {
    const recorded = payloadsOf('execution.order_filled.v1').map(({ venue_trade_id: id }) => String(id))
    const traded = simulation.journal.trades.map(({ tradeId }) => String(tradeId))
    expect(recorded.toSorted()).toEqual(traded.toSorted())
  })

  it('end the intents that they came from, each in one state', () => {
    const {
      trading: { orders },
      trading: { intents },
    } = simulation.state
    expect(orders.open.size).toBe(0)
    const left = [...intents.values()].filter(
      ({ status }) => !['filled', 'rejected', 'expired'].includes(status),
    )
    expect(left).toEqual([])
    const entries = payloadsOf('execution.order_submitted.v1').flatMap(({ intent_id: id }) => id ?? [])
    expect(new Set(entries).size).toBe(entries.length)
  })

  it('leave the cash that the trades of the venue come to, to the millionth of a dollar', () => {
    const cash = simulation.journal.trades.reduce((sum, trade) => sum + cashOf(trade), START_CASH)
    expect(simulation.state.trading.ledger.cash).toBe(cash)
    expect(simulation.state.trading.book.count).toBe(0)
    expect(simulation.journal.positions).toEqual([])
  })

  it('leave nothing at the venue that the log does not know', () => {
    expect(payloadsOf('execution.position_adopted.v1')).toEqual([])
    expect(payloadsOf('execution.venue_differs.v1')).toEqual([])
  })

  it('find the kill switch at the level at which it was stored', () => {
    expect(simulation.levels.map(({ found }) => found)).toEqual(simulation.levels.map(({ stored }) => stored))
    expect(new Set(simulation.levels.map(({ stored }) => stored)).size).toBeGreaterThan(1)
  })
})
