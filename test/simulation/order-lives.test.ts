import { describe, expect, it } from 'vitest'
import { MemoryLog } from '../../src/adapters/storage/memory/memory-log.ts'
import { openPositionsOf, positionsOf } from '../../src/core/trading/book.ts'
import type { KillSwitchLevel } from '../../src/core/shared/level.ts'
import { notionalOf } from '../../src/core/shared/money.ts'
import { createManualTimer, settle, type ManualTimer } from '../../src/ports/manual-timer.fixture.ts'
import { chanceOf, type Chance } from './chance.ts'
import { createExchange, type Exchange, type Treatment } from './exchange.ts'
import { everything, openFloor, preparedForLive, type Floor } from './trading-floor.ts'

/** Each seed is another story; SVC_TEST_LIVES=200 for a long night. */
const STORIES = Number(process.env['SVC_TEST_LIVES'] ?? 8)
const ORDERS_PER_STORY = 250
const SYMBOLS = ['BTC', 'ETH', 'SOL', 'SUI', 'HYPE', 'XRP', 'ADA', 'DOT', 'AVAX', 'LINK']
const BEGIN_MS = Date.parse('2026-02-20T00:30:00.000Z')
/** What waits for longer has expired. */
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

interface EventBuilder {
  readonly chance: Chance
  readonly timer: ManualTimer
  readonly exchange: Exchange
  readonly log: MemoryLog
  readonly prices: Map<string, number>
  orders: number
  /** As it was last acknowledged; null while a change of it is under way. */
  level: KillSwitchLevel | null
}

/** One process, from its start to its sudden end. */
const processOf = async (story: EventBuilder, stepsToLive: number): Promise<void> => {
  const { log, exchange, timer, chance } = story
  const floor = await openFloor({ log, broker: exchange, timer, symbols: SYMBOLS, stepsToLive })
  if (story.level !== null) expect(floor.engine.state.trading.killSwitch.level).toBe(story.level)
  let isOver = false
  const ended = floor.dropped.then(() => {
    isOver = true
  })
  const during = (work: Promise<unknown>): Promise<unknown> => Promise.race([work, ended])
  await during(floor.desk.start())
  for (let turn = 0; turn < 60 && !isOver; turn += 1) {
    await during(act(story, floor, during))
    await during(timer.advance(500 + chance.below(3000)))
  }
  floor.drop()
  await settle()
}

const act = async (
  story: EventBuilder,
  floor: Floor,
  during: (work: Promise<unknown>) => Promise<unknown>,
): Promise<void> => {
  const { chance, exchange, timer, prices } = story
  if (chance.happens(0.5)) exchange.treat(...pick(chance, TREATMENTS))
  if (chance.happens(0.1)) exchange.troubleLookups('unclear', 'throw')
  if (chance.happens(0.3)) exchange.fillResting()
  if (chance.happens(0.5)) {
    await during(timer.advance(60_000 - (timer.now() % 60_000) + 1))
    for (const symbol of SYMBOLS) {
      const price = Math.round((prices.get(symbol) ?? 100) * (0.93 + chance.below(15) / 100) * 100) / 100
      prices.set(symbol, Math.max(20, price))
      exchange.setPrice(symbol, Math.max(20, price))
    }
    await during(floor.bars(Object.fromEntries(prices)))
  }
  if (chance.happens(0.04)) await during(setLevel(story, floor, chance.below(4) as KillSwitchLevel))
  else if (story.level !== 0 && chance.happens(0.5)) await during(setLevel(story, floor, 0))
  if (chance.happens(0.3)) await during(floor.engine.execute(CLOSE_ALL))
  const { state } = floor.engine
  if (state.trading.killSwitch.level >= 2 || state.trading.venue.checked?.ok !== true) return
  if (state.trading.orders.open.some(({ status }) => status === 'unknown')) return
  for (const symbol of SYMBOLS) {
    if (chance.happens(0.5) || positionsOf(floor.engine.state.trading, symbol).length > 0) continue
    await during(floor.intend({ symbol, direction: chance.happens(0.5) ? 'long' : 'short' }))
  }
}

const pick = (chance: Chance, from: readonly Treatment[]): readonly Treatment[] =>
  [from[chance.below(from.length)]].filter((one) => one !== undefined)

const setLevel = async (story: EventBuilder, floor: Floor, level: KillSwitchLevel): Promise<void> => {
  story.level = null
  await floor.engine.execute({
    kind: 'set-kill-switch',
    move: { level, reason: 'test', operator: 'op', surface: 'cli' },
  })
  story.level = floor.engine.state.trading.killSwitch.level
}

/** A last process that lives until nothing is under way, and everything is sold. */
const ending = async (story: EventBuilder): Promise<Floor> => {
  const { log, exchange, timer } = story
  const floor = await openFloor({ log, broker: exchange, timer, symbols: SYMBOLS })
  await floor.desk.start()
  await setLevel(story, floor, 0)
  for (let minute = 0; minute < 30; minute += 1) {
    exchange.fillResting()
    await timer.advance(60_000)
    await settle()
    // As the schedule does.
    await floor.engine.execute({ kind: 'expire-intents' })
    const {
      trading: { orders },
      trading: { book },
    } = floor.engine.state
    if (orders.open.size === 0 && book.count === 0 && minute > INTENT_MINUTES) return floor
    if (orders.open.size === 0) await floor.engine.execute(CLOSE_ALL)
  }
  throw new Error('something is still under way')
}

const storyOf = async (seed: number): Promise<{ readonly story: EventBuilder; readonly floor: Floor }> => {
  const timer = createManualTimer(BEGIN_MS)
  const story: EventBuilder = {
    chance: chanceOf(seed),
    timer,
    exchange: createExchange(() => timer.now()),
    log: new MemoryLog(),
    prices: new Map(SYMBOLS.map((symbol) => [symbol, 100])),
    orders: 0,
    level: 0,
  }
  await preparedForLive(story.log, BEGIN_MS)
  while (story.orders < ORDERS_PER_STORY) {
    await processOf(story, 10 + story.chance.below(400))
    story.orders = await story.log.count('execution.order_submitted')
  }
  return { story, floor: await ending(story) }
}

describe('lives of orders through crashes and a venue that misbehaves', () => {
  it.each(Array.from({ length: STORIES }, (_, index) => index + 1))(
    'story %i: sent once, filled once, ended once, and the ledger adds up',
    async (seed) => {
      const { story, floor } = await storyOf(seed)
      const { exchange, log } = story
      const records = await everything(log)
      const of = (type: string): readonly Record<string, string | null>[] =>
        records.filter((record) => record.type === type).map(({ payload }) => JSON.parse(payload))

      expect(exchange.duplicates(), 'orders sent twice').toBe(0)
      const submitted = of('execution.order_submitted.v1').map(({ idempotency_key: key }) => String(key))
      expect(new Set(submitted).size).toBe(submitted.length)
      expect([...exchange.orders.keys()].filter((id) => !submitted.includes(id))).toEqual([])

      const trades = [...exchange.orders.values()].flatMap(({ fills }) => fills)
      const recorded = of('execution.order_filled.v1').map(({ venue_trade_id: id }) => String(id))
      expect(recorded.toSorted()).toEqual(trades.map(({ venueTradeId }) => venueTradeId).toSorted())

      const intents = [...floor.engine.state.trading.intents.values()]
      const left = intents.filter(({ status }) => !['filled', 'rejected', 'expired'].includes(status))
      expect(left.map(({ id, status }) => `${id} ${status}`)).toEqual([])
      const ends = new Map<string, number>()
      for (const { intent_id: id } of of('execution.order_submitted.v1'))
        if (typeof id === 'string') ends.set(id, (ends.get(id) ?? 0) + 1)
      expect([...ends.values()].filter((count) => count !== 1)).toEqual([])

      expect(openPositionsOf(floor.engine.state.trading)).toEqual([])
      expect(SYMBOLS.filter((symbol) => exchange.netOf(symbol) !== 0n)).toEqual([])
      expect(of('execution.position_adopted.v1')).toEqual([])
      expect(of('execution.venue_differs.v1')).toEqual([])

      const cash = [...exchange.orders.values()].reduce(
        (sum, { order, fills }) =>
          fills.reduce((within, { price, quantity, feeUsd }) => {
            const notional = notionalOf(price, quantity)
            return within + (order.side === 'sell' ? notional : -notional) - feeUsd
          }, sum),
        10_000_000_000n,
      )
      expect(floor.engine.state.trading.ledger.cash).toBe(cash)
      expect(submitted.length).toBeGreaterThanOrEqual(ORDERS_PER_STORY)
      expect(trades.length).toBeGreaterThan(100)
      await floor.close()
    },
    60_000,
  )
})
