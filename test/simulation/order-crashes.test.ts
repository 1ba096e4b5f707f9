import { canonicalSymbol } from '../../src/core/shared/symbol.ts'
import { describe, expect, it } from 'vitest'
import { MemoryLog } from '../../src/adapters/storage/memory/memory-log.ts'
import { openPositionsOf, positionsOf } from '../../src/core/trading/positions/book.ts'
import { isAtRest } from '../../src/core/trading/orders/orders.ts'
import type { KillSwitchLevel } from '../../src/core/shared/level.ts'
import { notionalOf } from '../../src/core/shared/money.ts'
import { createManualTimer, settle, type ManualTimer } from '../../src/ports/manual-timer.fixture.ts'
import { seedAt, volume } from '../generated.fixture.ts'
import { randomOf, type Random } from './random.fixture.ts'
import { createMemoryExchange, type MemoryExchange, type Treatment } from './memory-exchange.fixture.ts'
import { allRecords, openLiveEngine, prepareForLive, type LiveEngine } from './live-engine.fixture.ts'

/** Each seed is another simulation. Set SVC_TEST_LIVES=200 for a long run. */
const SEEDS = Number(process.env['SVC_TEST_LIVES'] ?? volume({ normal: 1, full: 8 }))
/**
 * A seed that changes with each commit. It is even, where the first one is odd, so that the exchange holds protective
 * stops.
 */
const OTHER_SEED = seedAt(0) & ~1
const ORDERS_PER_SEED = 250
const SYMBOLS = ['BTC', 'ETH', 'SOL', 'SUI', 'HYPE', 'XRP', 'ADA', 'DOT', 'AVAX', 'LINK']
const BEGIN_MS = Date.parse('2026-02-20T00:30:00.000Z')
/** Minutes after which a waiting intent has expired. */
const INTENT_MINUTES = 5
const CLOSE_ALL = { kind: 'close-all', by: { operator: 'op', surface: 'cli' } } as const

const TREATMENTS: readonly Treatment[] = [
  'fill-in-parts',
  'fill-some',
  'fill-nothing',
  'refuse',
  'fill-unclear',
  'fill-hang',
  'fill-throw',
  'lose',
  'lose-hang',
  'trades-later',
]

interface Simulation {
  readonly random: Random
  readonly timer: ManualTimer
  readonly exchange: MemoryExchange
  readonly log: MemoryLog
  readonly prices: Map<string, number>
  orders: number
  /** Level as last acknowledged; null while a change is in progress. */
  level: KillSwitchLevel | null
}

/** One process, from its start to its sudden end. */
const processOf = async (simulation: Simulation, stepsToLive: number): Promise<void> => {
  const { log, exchange, timer, random } = simulation
  const live = await openLiveEngine({ log, broker: exchange, timer, symbols: SYMBOLS, stepsToLive })
  if (simulation.level !== null) expect(live.engine.state.trading.killSwitch.level).toBe(simulation.level)
  let isOver = false
  const ended = live.dropped.then(() => {
    isOver = true
  })
  const during = (work: Promise<unknown>): Promise<unknown> => Promise.race([work, ended])
  await during(live.router.start())
  for (let turn = 0; turn < 60 && !isOver; turn += 1) {
    await during(act(simulation, live, during))
    await during(timer.advance(500 + random.below(3000)))
  }
  live.drop()
  await settle()
}

const act = async (
  simulation: Simulation,
  live: LiveEngine,
  during: (work: Promise<unknown>) => Promise<unknown>,
): Promise<void> => {
  const { random, exchange, timer, prices } = simulation
  if (random.happens(0.5)) exchange.treat(...pick(random, TREATMENTS))
  if (random.happens(0.1)) exchange.failLookups('unclear', 'throw')
  if (random.happens(0.3)) exchange.fillResting()
  if (random.happens(0.5)) {
    await during(timer.advance(60_000 - (timer.now() % 60_000) + 1))
    for (const symbol of SYMBOLS) {
      const price = Math.round((prices.get(symbol) ?? 100) * (0.93 + random.below(15) / 100) * 100) / 100
      prices.set(symbol, Math.max(20, price))
      exchange.setPrice(symbol, Math.max(20, price))
    }
    await during(live.bars(Object.fromEntries(prices)))
  }
  if (random.happens(0.04)) await during(setLevel(simulation, live, random.below(4) as KillSwitchLevel))
  else if (simulation.level !== 0 && random.happens(0.5)) await during(setLevel(simulation, live, 0))
  if (random.happens(0.3)) await during(live.engine.execute(CLOSE_ALL))
  const { state } = live.engine
  if (state.trading.killSwitch.level >= 2 || state.trading.venue.checked?.ok !== true) return
  if (state.trading.orders.open.some(({ status }) => status === 'unknown')) return
  for (const symbol of SYMBOLS) {
    if (random.happens(0.5) || positionsOf(live.engine.state.trading, canonicalSymbol(symbol)).length > 0)
      continue
    await during(live.submitIntent({ symbol, direction: random.happens(0.5) ? 'long' : 'short' }))
  }
}

const pick = (random: Random, from: readonly Treatment[]): readonly Treatment[] =>
  [from[random.below(from.length)]].filter((one) => one !== undefined)

const setLevel = async (simulation: Simulation, live: LiveEngine, level: KillSwitchLevel): Promise<void> => {
  simulation.level = null
  await live.engine.execute({
    kind: 'set-kill-switch',
    move: { level, reason: 'test', operator: 'op', surface: 'cli' },
  })
  simulation.level = live.engine.state.trading.killSwitch.level
}

/** Runs a last process until no order is open and every position is closed. */
const ending = async (simulation: Simulation): Promise<LiveEngine> => {
  const { log, exchange, timer } = simulation
  const live = await openLiveEngine({ log, broker: exchange, timer, symbols: SYMBOLS })
  await live.router.start()
  await setLevel(simulation, live, 0)
  for (let minute = 0; minute < 30; minute += 1) {
    exchange.fillResting()
    await timer.advance(60_000)
    await settle()
    // Ends expired intents, as the schedule does.
    await live.engine.execute({ kind: 'expire-intents' })
    const {
      trading: { orders },
      trading: { book },
    } = live.engine.state
    if (orders.open.size === 0 && book.count === 0 && minute > INTENT_MINUTES) return live
    if (orders.open.every(isAtRest)) await live.engine.execute(CLOSE_ALL)
  }
  throw new Error('something is still under way')
}

const simulate = async (
  seed: number,
): Promise<{ readonly simulation: Simulation; readonly live: LiveEngine }> => {
  const timer = createManualTimer(BEGIN_MS)
  const simulation: Simulation = {
    random: randomOf(seed),
    timer,
    // Every second exchange holds protective stops.
    exchange: createMemoryExchange(() => timer.now(), { restingStops: seed % 2 === 0 }),
    log: new MemoryLog(),
    prices: new Map(SYMBOLS.map((symbol) => [symbol, 100])),
    orders: 0,
    level: 0,
  }
  await prepareForLive(simulation.log, BEGIN_MS)
  while (simulation.orders < ORDERS_PER_SEED) {
    await processOf(simulation, 10 + simulation.random.below(400))
    simulation.orders = await simulation.log.count('execution.order_submitted')
  }
  return { simulation, live: await ending(simulation) }
}

describe('orders through crashes and faults of the venue', () => {
  it.each([...Array.from({ length: SEEDS }, (_, index) => index + 1), OTHER_SEED])(
    'seed %i: sent once, filled once, ended once, and the ledger adds up',
    async (seed) => {
      const { simulation, live } = await simulate(seed)
      const { exchange, log } = simulation
      const records = await allRecords(log)
      const of = (type: string): readonly Record<string, string | null>[] =>
        records.filter((record) => record.type === type).map(({ payload }) => JSON.parse(payload))

      expect(exchange.duplicates(), 'orders sent twice').toBe(0)
      const submitted = of('execution.order_submitted.v1').map(({ idempotency_key: key }) => String(key))
      expect(new Set(submitted).size).toBe(submitted.length)
      expect([...exchange.orders.keys()].filter((id) => !submitted.includes(id))).toEqual([])

      const trades = [...exchange.orders.values()].flatMap(({ fills }) => fills)
      const recorded = of('execution.order_filled.v1').map(({ venue_trade_id: id }) => String(id))
      expect(recorded.toSorted()).toEqual(trades.map(({ venueTradeId }) => venueTradeId).toSorted())

      const intents = [...live.engine.state.trading.intents.values()]
      const left = intents.filter(({ status }) => !['filled', 'rejected', 'expired'].includes(status))
      expect(left.map(({ id, status }) => `${id} ${status}`)).toEqual([])
      const ends = new Map<string, number>()
      for (const { intent_id: id } of of('execution.order_submitted.v1'))
        if (typeof id === 'string') ends.set(id, (ends.get(id) ?? 0) + 1)
      expect([...ends.values()].filter((count) => count !== 1)).toEqual([])

      expect(openPositionsOf(live.engine.state.trading)).toEqual([])
      expect(SYMBOLS.filter((symbol) => exchange.netOf(symbol) !== 0n)).toEqual([])
      expect(of('execution.position_adopted.v1')).toEqual([])
      expect(of('execution.venue_differs.v1')).toEqual([])

      const cash = [...exchange.orders.values()].reduce(
        (sum, { order, fills }) =>
          fills.reduce((within, { price, quantity, feeUsd }) => {
            const notional = notionalOf(price, quantity)
            return within + (order.side === 'sell' ? notional : -(notional as bigint)) - feeUsd
          }, sum),
        10_000_000_000n,
      )
      expect(live.engine.state.trading.ledger.cash).toBe(cash)
      expect(submitted.length).toBeGreaterThanOrEqual(ORDERS_PER_SEED)
      expect(trades.length).toBeGreaterThan(100)
      await live.close()
    },
    600_000,
  )
})
