import { canonicalSymbol } from '../../src/core/shared/symbol.ts'
import { timestampAt } from '../../src/core/shared/time.ts'
import { priceFrom } from '../../src/core/shared/money.ts'
/**
 * An engine that trades at a venue in another process, until it is killed: `kill-orders-process.ts <TradingTask>`. It
 * loads allRecords and then waits for a line that says go. It reports each action as one line.
 */
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { createCcxtBroker } from '../../src/adapters/brokers/ccxt/ccxt-broker.ts'
import { openSqliteLog } from '../../src/adapters/storage/sqlite/sqlite-log.ts'
import { positionsOf } from '../../src/core/trading/positions/book.ts'
import { isProtectiveStop } from '../../src/core/trading/orders/orders.ts'
import type { KillSwitchLevel } from '../../src/core/shared/level.ts'
import type { Broker } from '../../src/ports/broker.ts'
import type { Timer } from '../../src/ports/timer.ts'
import { createFastTimer, type Pace } from '../exchange-server/fast-time.ts'
import { createExchangeControl, type ExchangeAccess } from '../exchange-server/control.ts'
import { randomOf } from './random.fixture.ts'
import { openLiveEngine, type LiveEngine } from './live-engine.fixture.ts'

export interface TradingTask {
  readonly kind: 'trade' | 'end'
  readonly seed: number
  /** Level of the kill switch to set first; null leaves it unchanged. */
  readonly level: KillSwitchLevel | null
  readonly logPath: string
  readonly venue: ExchangeAccess
  readonly pace: Pace
  readonly symbols: readonly string[]
}

/** `level ?` before a change, `level 2` after the change was stored. */
export type Progress =
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

const random = randomOf(seed)
const control = createExchangeControl(venue.baseUrl)

const report = (line: Progress): void => {
  process.stdout.write(`${line}\n`)
}

/** Reports when an order is sent, and when its result has arrived. */
const reporting = (broker: Broker): Broker => ({
  ...broker,
  submit: async (order, deadline) => {
    const submitting = broker.submit(order, deadline)
    report('sent')
    const result = await submitting
    report('answered')
    return result
  },
})

const openTrading = async (timer: Timer): Promise<LiveEngine> => {
  const log = await openSqliteLog({ path: logPath })
  const broker = createCcxtBroker({
    exchange: 'binanceusdm',
    credentials: { apiKey: venue.apiKey, secret: venue.secret },
    leverageMax: 3,
    timer,
    baseUrl: venue.baseUrl,
    rateLimitMs: 0.01,
    // Simulated time runs fast: a busy machine needs some real seconds for a response.
    requestTimeoutMs: 60_000,
  })
  const execution = { lookups: { attempts: 3, seconds: 12 } }
  return openLiveEngine({ log, broker: reporting(broker), timer, symbols, execution })
}

/** Prices of a minute, identical for every process. */
const pricesAt = (minute: number): Readonly<Record<string, number>> =>
  Object.fromEntries(
    symbols.map((symbol, index) => [symbol, 94 + randomOf(minute * 31 + index * 7).below(1200) / 100]),
  )

const setPrices = (prices: Readonly<Record<string, number>>): Promise<void> =>
  control.change({
    prices: Object.fromEntries(Object.entries(prices).map(([symbol, price]) => [symbol, price.toFixed(3)])),
  })

const round = (price: number): number => Math.round(price * 1000) / 1000

const setLevel = async ({ engine }: LiveEngine, level: KillSwitchLevel): Promise<void> => {
  report('level ?')
  const move = { level, reason: 'test', operator: 'op', surface: 'cli' } as const
  await engine.execute({ kind: 'set-kill-switch', move })
  report(`level ${engine.state.trading.killSwitch.level}`)
}

const fillResting = async (): Promise<void> => {
  const { orders } = await control.journal()
  for (const { clientOrderId, isOpen } of orders) if (isOpen) await control.fill(clientOrderId)
}

/** A price between two bars, which may reach a stop. */
const tick = async (live: LiveEngine, timer: Timer, symbol: string, price: number): Promise<void> => {
  await setPrices({ [symbol]: price })
  const ts = timestampAt(timer.now())
  await live.engine.execute({
    kind: 'observe-tick',
    tick: { symbol: canonicalSymbol(symbol), price: priceFrom(price), ts, confirms: null },
  })
}

const act = async (live: LiveEngine, timer: Timer): Promise<void> => {
  const { engine } = live
  const prices = pricesAt(Math.floor(timer.now() / MINUTE_MS))
  await setPrices(prices)
  await live.bars(prices)
  if (random.happens(0.1)) await fillResting()
  if (random.happens(0.05)) await setLevel(live, random.below(4) as KillSwitchLevel)
  else if (engine.state.trading.killSwitch.level !== 0 && random.happens(0.4)) await setLevel(live, 0)
  if (random.happens(0.25)) await engine.execute(CLOSE_ALL)
  await engine.execute({ kind: 'expire-intents' })
  const { checked } = engine.state.trading.venue
  const mayEnter = checked?.ok === true && engine.state.trading.killSwitch.level < 2
  for (const symbol of symbols) {
    const [held] = positionsOf(engine.state.trading, canonicalSymbol(symbol))
    const price = prices[symbol] ?? 100
    if (held !== undefined && random.happens(0.2))
      await tick(live, timer, symbol, round(price * (held.terms.direction === 'long' ? 0.9 : 1.1)))
    if (held !== undefined || !mayEnter || random.happens(0.5)) continue
    const valid_until = timestampAt(timer.now() + INTENT_MS)
    await live.submitIntent({ symbol, direction: random.happens(0.5) ? 'long' : 'short', valid_until })
  }
}

const trade = async (live: LiveEngine, timer: Timer): Promise<never> => {
  if (firstLevel !== null) await setLevel(live, firstLevel)
  for (;;) {
    await act(live, timer)
    await sleep(random.below(40))
  }
}

/** Runs until no order is open and every position is closed. */
const end = async (live: LiveEngine, timer: Timer): Promise<void> => {
  const { engine } = live
  const endMs = timer.now() + INTENT_MS
  await setLevel(live, 0)
  for (;;) {
    await fillResting()
    await engine.execute({ kind: 'expire-intents' })
    const {
      trading: { orders },
      trading: { book },
    } = engine.state
    if (orders.open.size === 0 && book.count === 0 && timer.now() > endMs) break
    // Stops rest at the venue as long as there is a position to protect.
    if ([...orders.open.values()].every(isProtectiveStop)) await engine.execute(CLOSE_ALL)
    await sleep(50)
  }
  await live.close()
}

await import('ccxt')
report('loaded')
const orders = createInterface({ input: process.stdin })
// The parent process is gone.
orders.on('close', () => process.exit(1))
await once(orders, 'line')
const timer = createFastTimer(pace)
const live = await openTrading(timer)
report('open')
report(`level ${live.engine.state.trading.killSwitch.level}`)
await live.router.start()
report('trading')
if (kind === 'trade') await trade(live, timer)
await end(live, timer)
report('done')
process.exit(0)
