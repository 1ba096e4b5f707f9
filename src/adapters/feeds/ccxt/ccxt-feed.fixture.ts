import { startExchangeServer, type ExchangeServer } from '../../../../test/exchange-server/exchange-server.ts'
import type { FeedBar } from '../../../core/market/bar.ts'
import { createManualTimer, settle, type ManualTimer } from '../../../ports/manual-timer.fixture.ts'
import type { FeedListener, FeedStart, MarketFeed, Tick } from '../../../ports/market-feed.ts'
import { createCcxtFeed, type CcxtFeedDependencies } from './ccxt-feed.ts'

export const START_MS = Date.parse('2026-02-20T12:34:56.789Z')
export const MINUTE_MS = 60_000

/** A feed, the exchange server it uses, and what it delivered. Time moves only by hand; requests are real. */
export interface CcxtFeedFixture {
  readonly timer: ManualTimer
  readonly venue: ExchangeServer
  readonly feed: MarketFeed
  readonly calls: (readonly FeedBar[])[]
  readonly ticks: Tick[]
  readonly errors: string[]
  readonly listener: FeedListener
  bars(): readonly FeedBar[]
  start(from?: Partial<FeedStart>): Promise<void>
  /** Moves time in small steps, with time for requests in between, until the condition holds. */
  until(isReached: () => boolean, stepMs?: number): Promise<void>
  /** To this second of the next minute. */
  nextMinute(second?: number): Promise<void>
  close(): Promise<void>
}

export const openCcxtFeedFixture = async (
  changes: Partial<CcxtFeedDependencies> = {},
): Promise<CcxtFeedFixture> => {
  const timer = createManualTimer(START_MS)
  const venue = await startExchangeServer({ now: () => timer.now() })
  const feed = createCcxtFeed({
    exchange: 'binance',
    barSeconds: 60,
    warmupHours: 0,
    timer,
    baseUrl: venue.baseUrl,
    ...changes,
  })
  const calls: (readonly FeedBar[])[] = []
  const ticks: Tick[] = []
  const errors: string[] = []
  const listener: FeedListener = {
    onBars: async (bars) => {
      calls.push(bars)
    },
    onTick: (tick) => ticks.push(tick),
    onError: (message) => errors.push(message),
  }
  return {
    timer,
    venue,
    feed,
    calls,
    ticks,
    errors,
    listener,
    bars: () => calls.flat(),
    start: (from = {}) =>
      feed.start({ symbols: ['BTC'], segment: 1, lastBars: new Map(), ...from }, listener),
    until: async (isReached, stepMs = 20) => {
      for (let turn = 0; turn < TURNS_MAX; turn += 1) {
        if (isReached()) return
        await timer.advance(stepMs)
        await pause(venue)
      }
      throw new Error(
        `the feed did not reach the expected state: ${JSON.stringify({ errors, status: feed.status() })}`,
      )
    },
    nextMinute: (second = 1) => {
      const minuteMs = (Math.floor(timer.now() / MINUTE_MS) + 1) * MINUTE_MS
      return timer.advance(minuteMs + second * 1000 - timer.now())
    },
    close: async () => {
      await feed.stop()
      await venue.close()
    },
  }
}

/** Gives requests the time to arrive, and waits for their responses. */
export const pause = async (venue: ExchangeServer): Promise<void> => {
  for (let turn = 0; turn < PAUSES_MAX; turn += 1) {
    await new Promise((resolve) => {
      setTimeout(resolve, 2)
    })
    await settle()
    if (venue.answering() === 0) return
  }
}

const TURNS_MAX = 500
const PAUSES_MAX = 500
