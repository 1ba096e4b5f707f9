import type { FeedBar } from '../../../core/market/bar.ts'
import type { HistoryBar } from '../../../core/market/history/series.ts'
import { canonicalSymbol } from '../../../core/shared/symbol.ts'
import { timestampAt } from '../../../core/shared/time.ts'
import type { FeedListener, FeedStart, FeedStatus, MarketFeed } from '../../../ports/market-feed.ts'
import type { Timer } from '../../../ports/timer.ts'
import { deliverBars, startedOnce, type RunningFeed } from '../../feed.ts'

export interface HistoryFeedDependencies {
  /** Length of all bars. */
  readonly seconds: number
  readonly series: readonly HistorySeries[]
  readonly timer: Timer
}

export interface HistorySeries {
  readonly symbol: string
  /** Bars by month, oldest first. */
  readonly months: () => AsyncIterable<readonly HistoryBar[]>
}

/** Recorded bars for backtests, delivered as fast as they are read. Only one month of each symbol is in memory. */
export const createHistoryFeed = (dependencies: HistoryFeedDependencies): MarketFeed =>
  startedOnce({ name: 'history', producers: [] }, (from, listener) => deliver(dependencies, from, listener))

const deliver = (
  { seconds, series, timer }: HistoryFeedDependencies,
  from: FeedStart,
  listener: FeedListener,
): RunningFeed => {
  const abort = new AbortController()
  const { signal } = abort
  let state: FeedStatus['state'] = 'running'
  let lastCloseTs: string | null = null
  let error: string | null = null

  const deliverAll = async (): Promise<void> => {
    const onFailure = (message: string): void => listener.onError(message)
    const delivery = { listener, timer, signal, onFailure }
    const isNew = createBarFilter(from)
    const cursors = await cursorsOf(seriesOf(series, from))
    const timesOf = createTimes(seconds)
    for (let openMs = earliestOf(cursors); openMs < Infinity; openMs = earliestOf(cursors)) {
      const times = timesOf(openMs)
      const bars: FeedBar[] = []
      for (const cursor of cursors) {
        if (cursor.bar?.openMs !== openMs) continue
        const bar = feedBarOf(cursor.symbol, cursor.bar, times)
        if (isNew === null || isNew(bar)) bars.push(bar)
        // Waits only for a new month.
        if (!cursor.advance()) await cursor.nextMonth()
      }
      if (bars.length === 0) continue
      const stored = deliverBars(bars, delivery)
      if (stored !== true && !(await stored)) return
      lastCloseTs = times.close_ts
    }
    state = 'ended'
  }

  const delivered = deliverAll().catch((cause: unknown) => {
    state = 'failing'
    error = cause instanceof Error ? cause.message : String(cause)
  })
  return {
    started: Promise.resolve(),
    status: () => ({
      state: signal.aborted ? 'stopped' : state,
      lastBarAtMs: lastCloseTs === null ? null : Date.parse(lastCloseTs),
      clockOffsetMs: null,
      error,
    }),
    stop: async () => {
      abort.abort()
      await delivered
    },
  }
}

/** Filter for bars that are stored already. Null if no bars are stored. */
const createBarFilter = ({ lastBars }: FeedStart): ((bar: FeedBar) => boolean) | null => {
  if (lastBars.size === 0) return null
  const storedUntil = new Map([...lastBars].map(([symbol, bar]) => [canonicalSymbol(symbol), bar.close_ts]))
  return ({ symbol, open_ts }) => open_ts >= (storedUntil.get(canonicalSymbol(symbol)) ?? '')
}

/** Series with symbols in the spelling of the universe. */
const seriesOf = (series: readonly HistorySeries[], { symbols }: FeedStart): readonly HistorySeries[] =>
  series.flatMap(({ symbol, months }) => {
    const wanted = symbols.find((name) => canonicalSymbol(name) === canonicalSymbol(symbol))
    return wanted === undefined ? [] : [{ symbol: wanted, months }]
  })

/** One series, month after month. Most bars are in memory and are read without waiting. */
class Cursor {
  readonly symbol: string
  /** The current bar; null at the end. */
  bar: HistoryBar | null = null
  readonly #months: AsyncIterator<readonly HistoryBar[]>
  #month: readonly HistoryBar[] = []
  #place = 0

  constructor({ symbol, months }: HistorySeries) {
    this.symbol = symbol
    this.#months = months()[Symbol.asyncIterator]()
  }

  /** Moves to the next bar of the month. False at the end of the month. */
  advance(): boolean {
    const next = this.#month[this.#place]
    if (next === undefined) return false
    this.bar = next
    this.#place += 1
    return true
  }

  async nextMonth(): Promise<void> {
    this.bar = null
    do {
      const step = await this.#months.next()
      if (step.done === true) return
      this.#month = step.value
      this.#place = 0
    } while (!this.advance())
  }
}

const cursorsOf = async (series: readonly HistorySeries[]): Promise<readonly Cursor[]> => {
  const cursors = series.map((one) => new Cursor(one))
  for (const cursor of cursors) await cursor.nextMonth()
  return cursors
}

/** Open time of the next bars; infinite at the end. */
const earliestOf = (cursors: readonly Cursor[]): number => {
  let earliest = Infinity
  for (const { bar } of cursors) if (bar !== null && bar.openMs < earliest) earliest = bar.openMs
  return earliest
}

type BarTexts = Pick<FeedBar, 'resolution_s' | 'open_ts' | 'close_ts'>

/** A bar usually opens when the last one closed, so that only one time must be formatted. */
const createTimes = (seconds: number): ((openMs: number) => BarTexts) => {
  let closeMs = Number.NaN
  let close_ts = timestampAt(0)
  return (openMs) => {
    const open_ts = openMs === closeMs ? close_ts : timestampAt(openMs)
    closeMs = openMs + seconds * 1000
    close_ts = timestampAt(closeMs)
    return { resolution_s: seconds, open_ts, close_ts }
  }
}

const feedBarOf = (
  symbol: string,
  bar: HistoryBar,
  { resolution_s, open_ts, close_ts }: BarTexts,
): FeedBar => {
  const { open, high, low, close, volume } = bar
  return {
    symbol,
    resolution_s,
    open_ts,
    close_ts,
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
