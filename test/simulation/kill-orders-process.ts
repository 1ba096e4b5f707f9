/**
 * An engine that trades at a venue of another process, until it is killed: `kill-orders-process.ts <TradingTask>`. It
 * loads everything and then waits for a line that says go. What it does it says, one word in a line.
 */
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { createCcxtBroker } from '../../src/adapters/brokers/ccxt/ccxt-broker.ts'
import { openSqliteLog } from '../../src/adapters/storage/sqlite/sqlite-log.ts'
import { positionsOf } from '../../src/core/trading/book.ts'
import type { KillSwitchLevel } from '../../src/core/shared/level.ts'
import type { Broker } from '../../src/ports/broker.ts'
import type { Timer } from '../../src/ports/timer.ts'
import { createFastTimer, type Pace } from '../venue/fast-time.ts'
import { controlOfVenue, type VenueAccess } from '../venue/venue-control.ts'
import { chanceOf } from './chance.ts'
import { openFloor, type Floor } from './trading-floor.ts'

export interface TradingTask {
  readonly kind: 'trade' | 'end'
  readonly seed: number
  /** Of the kill switch, first of all; null leaves it alone. */
  readonly level: KillSwitchLevel | null
  readonly logPath: string
  readonly venue: VenueAccess
  readonly pace: Pace
  readonly symbols: readonly string[]
}

/** `level ?` before it is changed, `level 2` after that was stored. */
export type Word =
  | 'loaded'
  | 'open'
  | 'trading'
  | 'sent'
  | 'answered'
  | 'done'
  | `level ${KillSwitchLevel | '?'}`

const {
  kind,
  seed,
  level: firstLevel,
  logPath,
  venue,
  pace,
  symbols,
} = JSON.parse(process.argv[2] ?? '') as TradingTask
const CLOSE_ALL = { kind: 'close-all', by: { operator: 'op', surface: 'cli' } } as const
const MINUTE_MS = 60_000
const INTENT_MS = 40_000

const chance = chanceOf(seed)
const control = controlOfVenue(venue.baseUrl)

const say = (word: Word): void => {
  process.stdout.write(`${word}\n`)
}

/** Says when an order leaves, and when its answer has come. */
const talkative = (broker: Broker): Broker => ({
  ...broker,
  submit: async (order) => {
    const answering = broker.submit(order)
    say('sent')
    const answer = await answering
    say('answered')
    return answer
  },
})

const openTrading = async (timer: Timer): Promise<Floor> => {
  const log = await openSqliteLog({ path: logPath })
  const broker = createCcxtBroker({
    exchange: 'binanceusdm',
    credentials: { apiKey: venue.apiKey, secret: venue.secret },
    leverageMax: 3,
    timer,
    baseUrl: venue.baseUrl,
    rateLimitMs: 0.01,
  })
  const execution = { lookups: { attempts: 3, seconds: 12 } }
  return openFloor({ log, broker: talkative(broker), timer, symbols, execution })
}

/** What the market does is written: the same in the same minute, for every process. */
const pricesAt = (minute: number): Readonly<Record<string, number>> =>
  Object.fromEntries(
    symbols.map((symbol, index) => [symbol, 94 + chanceOf(minute * 31 + index * 7).below(1200) / 100]),
  )

const setPrices = (prices: Readonly<Record<string, number>>): Promise<void> =>
  control.change({
    prices: Object.fromEntries(Object.entries(prices).map(([symbol, price]) => [symbol, price.toFixed(3)])),
  })

const round = (price: number): number => Math.round(price * 1000) / 1000

const setLevel = async ({ engine }: Floor, level: KillSwitchLevel): Promise<void> => {
  say('level ?')
  const move = { level, reason: 'test', operator: 'op', surface: 'cli' } as const
  await engine.execute({ kind: 'set-kill-switch', move })
  say(`level ${engine.state.trading.killSwitch.level}`)
}

const fillResting = async (): Promise<void> => {
  const { orders } = await control.journal()
  for (const { clientOrderId, isOpen } of orders) if (isOpen) await control.fill(clientOrderId)
}

/** A price between two bars, which may reach a stop. */
const tick = async (floor: Floor, timer: Timer, symbol: string, price: number): Promise<void> => {
  await setPrices({ [symbol]: price })
  const ts = new Date(timer.now()).toISOString()
  await floor.engine.execute({ kind: 'observe-tick', tick: { symbol, price, ts, confirms: null } })
}

const act = async (floor: Floor, timer: Timer): Promise<void> => {
  const { engine } = floor
  const prices = pricesAt(Math.floor(timer.now() / MINUTE_MS))
  await setPrices(prices)
  await floor.bars(prices)
  if (chance.happens(0.1)) await fillResting()
  if (chance.happens(0.05)) await setLevel(floor, chance.below(4) as KillSwitchLevel)
  else if (engine.state.trading.killSwitch.level !== 0 && chance.happens(0.4)) await setLevel(floor, 0)
  if (chance.happens(0.25)) await engine.execute(CLOSE_ALL)
  await engine.execute({ kind: 'expire-intents' })
  const { checked } = engine.state.trading.venue
  const mayEnter = checked?.ok === true && engine.state.trading.killSwitch.level < 2
  for (const symbol of symbols) {
    const [held] = positionsOf(engine.state.trading, symbol)
    const price = prices[symbol] ?? 100
    if (held !== undefined && chance.happens(0.2))
      await tick(floor, timer, symbol, round(price * (held.terms.direction === 'long' ? 0.9 : 1.1)))
    if (held !== undefined || !mayEnter || chance.happens(0.5)) continue
    const valid_until = new Date(timer.now() + INTENT_MS).toISOString()
    await floor.intend({ symbol, direction: chance.happens(0.5) ? 'long' : 'short', valid_until })
  }
}

const trade = async (floor: Floor, timer: Timer): Promise<never> => {
  if (firstLevel !== null) await setLevel(floor, firstLevel)
  for (;;) {
    await act(floor, timer)
    await sleep(chance.below(40))
  }
}

/** Until nothing is under way, and everything is sold. */
const end = async (floor: Floor, timer: Timer): Promise<void> => {
  const { engine } = floor
  const endMs = timer.now() + INTENT_MS
  await setLevel(floor, 0)
  for (;;) {
    await fillResting()
    await engine.execute({ kind: 'expire-intents' })
    const {
      trading: { orders },
      trading: { book },
    } = engine.state
    if (orders.open.size === 0 && book.count === 0 && timer.now() > endMs) break
    if (orders.open.size === 0) await engine.execute(CLOSE_ALL)
    await sleep(50)
  }
  await floor.close()
}

await import('ccxt')
say('loaded')
const orders = createInterface({ input: process.stdin })
// Whoever began it is gone: nobody will kill it.
orders.on('close', () => process.exit(1))
await once(orders, 'line')
const timer = createFastTimer(pace)
const floor = await openTrading(timer)
say('open')
say(`level ${floor.engine.state.trading.killSwitch.level}`)
await floor.desk.start()
say('trading')
if (kind === 'trade') await trade(floor, timer)
await end(floor, timer)
say('done')
process.exit(0)
