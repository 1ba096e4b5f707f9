import type { FeedBar } from '../market/bar.ts'
import { timeframeText } from '../market/history/series.ts'
import { timestampOf } from '../shared/brand.ts'
import { msOf } from '../shared/time.ts'
import { StrategyError, type Bar } from './strategy.ts'

/** A bar of the feed in the form that strategies read. */
export interface SeriesBar extends Bar {
  readonly symbol: string
  readonly seconds: number
  /** True for a bar from the history that a feed loads at its start. Strategies do not trade on it. */
  readonly isPast: boolean
}

export const seriesBar = (bar: FeedBar): SeriesBar => ({
  symbol: bar.symbol,
  seconds: bar.resolution_s,
  isPast: bar.backfill,
  openMs: msOf(timestampOf(bar.open_ts)),
  closeMs: msOf(timestampOf(bar.close_ts)),
  open: bar.open,
  high: bar.high,
  low: bar.low,
  close: bar.close,
  volume: bar.volume,
})

/**
 * Bars of one length of one symbol, built from bars of the feed. Numbers are stored in append-only chunks, so that a bar
 * costs no object until it is read: most strategies read few members of most bars.
 */
export class BarSeries {
  readonly seconds: number
  readonly #kept: number
  /** Oldest first. The last chunk has room for the incomplete bar. */
  readonly #chunks: Chunk[] = [new Chunk()]
  /** Number of closed bars in the chunks. */
  #count = 0
  /** The chunk and the row of the incomplete bar, which is the next one to close. */
  #chunk = this.#chunks[0] as Chunk
  #row = 0
  #isForming = false

  constructor(seconds: number, kept: number) {
    this.seconds = seconds
    this.#kept = kept
  }

  /** Returns the bars that this one closes: the bar that it completes, and before it one that a gap left incomplete. */
  add(bar: SeriesBar): readonly ClosedBar[] {
    // History that a feed loads at its start may have longer bars than the live ones.
    if (bar.seconds > this.seconds && bar.isPast) return NONE
    if (bar.seconds > this.seconds)
      throw new StrategyError(
        `it needs bars of ${timeframeText(this.seconds)}, but those of ${bar.symbol} are of ${timeframeText(bar.seconds)}`,
      )
    const lengthMs = this.seconds * 1000
    const openMs = Math.floor(bar.openMs / lengthMs) * lengthMs
    const cut = this.#isForming && this.#chunk.openMsOf(this.#row) !== openMs ? this.#close() : null
    if (this.#isForming) this.#chunk.extend(this.#row, bar)
    else this.#chunk.begin(this.#row, bar, openMs, openMs + lengthMs)
    this.#isForming = true
    const closed = bar.closeMs < openMs + lengthMs ? null : this.#close()
    if (cut === null) return closed === null ? NONE : [closed]
    return closed === null ? [cut] : [cut, closed]
  }

  /** The newest bars that had closed by then, oldest first. Returns a copy, so that callers cannot change the series. */
  until(ms: number, count = this.#kept): readonly Bar[] {
    const wanted = Number.isSafeInteger(count) && count > 0 ? Math.min(count, this.#kept) : 0
    let end = this.#count
    while (end > 0 && this.#closeMsOf(end - 1) > ms) end -= 1
    const bars: Bar[] = []
    for (let place = Math.max(0, end - wanted); place < end; place += 1) bars.push(this.#barAt(place))
    return bars
  }

  #closeMsOf(place: number): number {
    return this.#chunks[Math.floor(place / CHUNK_BARS)]?.closeMsOf(place % CHUNK_BARS) ?? 0
  }

  #barAt(place: number): Bar {
    return (this.#chunks[Math.floor(place / CHUNK_BARS)] as Chunk).barAt(place % CHUNK_BARS)
  }

  #close(): ClosedBar {
    const closed = new ClosedBar(this.#chunk, this.#row)
    this.#isForming = false
    this.#count += 1
    this.#row += 1
    if (this.#row === CHUNK_BARS) this.#beginChunk()
    return closed
  }

  #beginChunk(): void {
    this.#chunk = new Chunk()
    this.#row = 0
    this.#chunks.push(this.#chunk)
    while (this.#count - CHUNK_BARS >= this.#kept) {
      this.#chunks.shift()
      this.#count -= CHUNK_BARS
    }
  }
}

const NONE: readonly ClosedBar[] = []

/** A closed bar, whose object is made when it is first read. It stays valid when the series has dropped the bar. */
export class ClosedBar {
  readonly closeMs: number
  readonly #chunk: Chunk
  readonly #row: number

  constructor(chunk: Chunk, row: number) {
    this.closeMs = chunk.closeMsOf(row)
    this.#chunk = chunk
    this.#row = row
  }

  get bar(): Bar {
    return this.#chunk.barAt(this.#row)
  }
}

const CHUNK_BARS = 256
const [OPEN_MS, CLOSE_MS, OPEN, HIGH, LOW, CLOSE, VOLUME, FIELDS] = [0, 1, 2, 3, 4, 5, 6, 7] as const

/** Numbers of some bars, row by row, and the bars that were read. */
class Chunk {
  readonly #values = new Float64Array(CHUNK_BARS * FIELDS)
  readonly #bars: (Bar | undefined)[] = []

  begin(row: number, { open, high, low, close, volume }: SeriesBar, openMs: number, closeMs: number): void {
    const [values, at] = [this.#values, row * FIELDS]
    values[at + OPEN_MS] = openMs
    values[at + CLOSE_MS] = closeMs
    values[at + OPEN] = open
    values[at + HIGH] = high
    values[at + LOW] = low
    values[at + CLOSE] = close
    values[at + VOLUME] = volume
  }

  extend(row: number, { high, low, close, volume }: SeriesBar): void {
    const [values, at] = [this.#values, row * FIELDS]
    values[at + HIGH] = Math.max(this.#value(row, HIGH), high)
    values[at + LOW] = Math.min(this.#value(row, LOW), low)
    values[at + CLOSE] = close
    values[at + VOLUME] = this.#value(row, VOLUME) + volume
  }

  openMsOf(row: number): number {
    return this.#value(row, OPEN_MS)
  }

  closeMsOf(row: number): number {
    return this.#value(row, CLOSE_MS)
  }

  /** Returns one object per bar, however often it is called. Call it for closed bars only. */
  barAt(row: number): Bar {
    const known = this.#bars[row]
    if (known !== undefined) return known
    const bar = Object.freeze({
      openMs: this.#value(row, OPEN_MS),
      closeMs: this.#value(row, CLOSE_MS),
      open: this.#value(row, OPEN),
      high: this.#value(row, HIGH),
      low: this.#value(row, LOW),
      close: this.#value(row, CLOSE),
      volume: this.#value(row, VOLUME),
    })
    this.#bars[row] = bar
    return bar
  }

  #value(row: number, field: number): number {
    return this.#values[row * FIELDS + field] ?? Number.NaN
  }
}
