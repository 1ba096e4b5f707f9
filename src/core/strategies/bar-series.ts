import type { FeedBar } from '../market/bar.ts'
import { timeframeText } from '../market/history/series.ts'
import { StrategyError, type Bar } from './strategy.ts'

/** A bar of the feed in the form that strategies read. */
export interface SeriesBar extends Bar {
  readonly symbol: string
  readonly seconds: number
  /** True for a bar from the history that a feed loads at its start. Strategies do not trade on it. */
  readonly isPast: boolean
}

/** `msOf` converts times. Callers that read many bars pass a faster one. */
export const seriesBar = (bar: FeedBar, msOf: (ts: string) => number = Date.parse): SeriesBar => ({
  symbol: bar.symbol,
  seconds: bar.resolution_s,
  isPast: bar.backfill,
  openMs: msOf(bar.open_ts),
  closeMs: msOf(bar.close_ts),
  open: bar.open,
  high: bar.high,
  low: bar.low,
  close: bar.close,
  volume: bar.volume,
})

/** Bars of one length of one symbol, built from bars of the feed. Contains closed bars only. */
export class BarSeries {
  readonly seconds: number
  readonly #kept: number
  #bars: Bar[] = []
  #forming: Bar | null = null

  constructor(seconds: number, kept: number) {
    this.seconds = seconds
    this.#kept = kept
  }

  /** Returns the bars that this one closes: the bar that it completes, and before it one that a gap left incomplete. */
  add(bar: SeriesBar): readonly Bar[] {
    // History that a feed loads at its start may have longer bars than the live ones.
    if (bar.seconds > this.seconds && bar.isPast) return NONE
    if (bar.seconds > this.seconds)
      throw new StrategyError(
        `it needs bars of ${timeframeText(this.seconds)}, but those of ${bar.symbol} are of ${timeframeText(bar.seconds)}`,
      )
    const lengthMs = this.seconds * 1000
    const openMs = Math.floor(bar.openMs / lengthMs) * lengthMs
    const before = this.#forming
    const isCut = before !== null && before.openMs !== openMs
    const cut = isCut ? [this.#close(before)] : NONE
    const forming = before === null || isCut ? begun(bar, openMs, lengthMs) : extended(before, bar)
    this.#forming = forming
    if (bar.closeMs < openMs + lengthMs) return cut
    const closed = this.#close(forming)
    // A literal has no spare capacity, unlike an array that grows.
    return isCut ? [...cut, closed] : [closed]
  }

  /** Returns a copy, so that callers cannot change the series. */
  until(ms: number, count = this.#kept): readonly Bar[] {
    let end = this.#bars.length
    while (end > 0 && (this.#bars[end - 1]?.closeMs ?? 0) > ms) end -= 1
    const wanted = Number.isSafeInteger(count) && count > 0 ? Math.min(count, this.#kept) : 0
    return this.#bars.slice(Math.max(0, end - wanted), end)
  }

  #close(bar: Bar): Bar {
    const closed = Object.freeze(bar)
    this.#bars.push(closed)
    // Trimmed only now and then, so that most bars copy nothing.
    if (this.#bars.length >= 2 * this.#kept) this.#bars = this.#bars.slice(-this.#kept)
    this.#forming = null
    return closed
  }
}

const NONE: readonly Bar[] = []

const begun = ({ open, high, low, close, volume }: SeriesBar, openMs: number, lengthMs: number): Bar => ({
  openMs,
  closeMs: openMs + lengthMs,
  open,
  high,
  low,
  close,
  volume,
})

const extended = (bar: Bar, next: SeriesBar): Bar => ({
  openMs: bar.openMs,
  closeMs: bar.closeMs,
  open: bar.open,
  high: Math.max(bar.high, next.high),
  low: Math.min(bar.low, next.low),
  close: next.close,
  volume: bar.volume + next.volume,
})
