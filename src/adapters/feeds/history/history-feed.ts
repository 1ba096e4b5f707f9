import type { FeedBar } from '../../../core/market/bar.ts'
import type { HistoryBar } from '../../../core/market/history/series.ts'
import { canonicalSymbol } from '../../../core/shared/symbol.ts'
import { timestampAt } from '../../../core/shared/time.ts'
import type { FeedListener, FeedStart, FeedStatus, MarketFeed } from '../../../ports/market-feed.ts'
import type { Timer } from '../../../ports/timer.ts'
import { deliverBars } from '../../deliver-bars.ts'

export interface HistoryFeedDependencies {
  /** Length of all bars. */
  readonly seconds: number
  readonly series: readonly HistorySeries[]
  readonly timer: Timer
}

export interface HistorySeries {
  readonly symbol: string
  /** Oldest first. */
  readonly months: () => AsyncIterable<readonly HistoryBar[]>
}

/** Recorded bars as fast as they are taken, for backtests. Only one month of each symbol is in memory. */
export const createHistoryFeed = ({ seconds, series, timer }: HistoryFeedDependencies): MarketFeed => {
  const abort = new AbortController()
  const { signal } = abort
  let state: FeedStatus['state'] = 'idle'
  let lastBarAtMs: number | null = null
  let error: string | null = null
  let delivered: Promise<void> = Promise.resolve()

  const deliverAll = async (from: FeedStart, listener: FeedListener): Promise<void> => {
    const onFailure = (message: string): void => listener.onError(message)
    const isNew = createBarFilter(from)
    for await (const read of barsByTime(seriesOf(series, from), seconds)) {
      const bars = read.filter(isNew)
      if (bars.length === 0) continue
      if (!(await deliverBars(bars, { listener, timer, signal, onFailure }))) return
      lastBarAtMs = Date.parse(bars[0]?.close_ts ?? '')
    }
    state = 'ended'
  }

  return {
    name: 'history',
    producers: [],
    start: (from, listener) => {
      if (state !== 'idle' || signal.aborted) {
        return Promise.reject(new Error('the feed was already started: create a new one'))
      }
      state = 'running'
      delivered = deliverAll(from, listener).catch((cause: unknown) => {
        state = 'failing'
        error = cause instanceof Error ? cause.message : String(cause)
      })
      return Promise.resolve()
    },
    status: () => ({ state: signal.aborted ? 'stopped' : state, lastBarAtMs, clockOffsetMs: null, error }),
    stop: async () => {
      abort.abort()
      await delivered
    },
  }
}

/** What is stored already is not delivered again. */
const createBarFilter = ({ lastBars }: FeedStart): ((bar: FeedBar) => boolean) => {
  const storedUntil = new Map([...lastBars].map(([symbol, bar]) => [canonicalSymbol(symbol), bar.close_ts]))
  return ({ symbol, open_ts }) => open_ts >= (storedUntil.get(canonicalSymbol(symbol)) ?? '')
}

/** In the spelling of the universe. */
const seriesOf = (series: readonly HistorySeries[], { symbols }: FeedStart): readonly HistorySeries[] =>
  series.flatMap(({ symbol, months }) => {
    const wanted = symbols.find((name) => canonicalSymbol(name) === canonicalSymbol(symbol))
    return wanted === undefined ? [] : [{ symbol: wanted, months }]
  })

interface Cursor {
  readonly symbol: string
  /** Null at the end. */
  bar: HistoryBar | null
  readonly next: () => Promise<HistoryBar | null>
}

/** Bars of all series that opened together, oldest first. */
async function* barsByTime(
  series: readonly HistorySeries[],
  seconds: number,
): AsyncGenerator<readonly FeedBar[]> {
  const cursors: Cursor[] = []
  for (const { symbol, months } of series) {
    const next = readerOf(months())
    cursors.push({ symbol, bar: await next(), next })
  }
  for (;;) {
    const openMs = Math.min(...cursors.map(({ bar }) => bar?.openMs ?? Infinity))
    if (openMs === Infinity) return
    const bars: FeedBar[] = []
    for (const cursor of cursors) {
      if (cursor.bar?.openMs !== openMs) continue
      bars.push(feedBarOf(cursor.symbol, cursor.bar, seconds))
      cursor.bar = await cursor.next()
    }
    yield bars
  }
}

const readerOf = (months: AsyncIterable<readonly HistoryBar[]>): Cursor['next'] => {
  const iterator = months[Symbol.asyncIterator]()
  let month: readonly HistoryBar[] = []
  let place = 0
  return async () => {
    while (place >= month.length) {
      const step = await iterator.next()
      if (step.done === true) return null
      month = step.value
      place = 0
    }
    place += 1
    return month[place - 1] ?? null
  }
}

const feedBarOf = (symbol: string, bar: HistoryBar, seconds: number): FeedBar => {
  const { openMs, open, high, low, close, volume } = bar
  return {
    symbol,
    resolution_s: seconds,
    open_ts: timestampAt(openMs),
    close_ts: timestampAt(openMs + seconds * 1000),
    open,
    high,
    low,
    close,
    volume,
    quote_volume: Math.round(volume * close * 100) / 100,
    funding_annualized: null,
    basis_annualized: null,
    open_interest_usd: null,
    bid_depth_usd: null,
    ask_depth_usd: null,
    fear_greed: null,
    backfill: false,
  }
}
