import { createHash } from 'node:crypto'
import type { FeedBar } from '../core/market/bar.ts'

/**
 * SHA-256 over all bars that a run read, in their order, as little-endian doubles. A bar is eight of them: number of
 * its series, time of the open in milliseconds, open, high, low, close, volume, volume in USD. Series are numbered from
 * 0 in the order of their first bars. The first bar of each follows the series name (`BTC@900`: symbol and length in
 * seconds) as UTF-8 and a zero byte, padded with zero bytes to a multiple of eight. A bar with further members adds 0.5
 * to the number of its series and has six more doubles: funding, basis, open interest, depth of bids and of asks, fear
 * and greed, with +infinity for missing values.
 */
export class DataHash {
  readonly #hash = createHash('sha256')
  readonly #buffer = Buffer.alloc(BUFFER_BYTES)
  readonly #numbers = new DataView(this.#buffer.buffer, this.#buffer.byteOffset, BUFFER_BYTES)
  readonly #series = new Map<string, { readonly seconds: number; readonly number: number }>()
  #count = 0
  #length = 0

  add(openMs: number, bars: readonly FeedBar[]): void {
    for (const bar of bars) {
      let series = this.#series.get(bar.symbol)
      if (series?.seconds !== bar.resolution_s) series = this.#begin(bar)
      if (this.#length + BAR_BYTES_MAX > BUFFER_BYTES) this.#flush()
      const isMore = hasMore(bar)
      this.#put(isMore ? series.number + 0.5 : series.number)
      this.#put(openMs)
      this.#put(bar.open)
      this.#put(bar.high)
      this.#put(bar.low)
      this.#put(bar.close)
      this.#put(bar.volume)
      this.#put(bar.quote_volume)
      if (isMore) this.#putMore(bar)
    }
  }

  /** In hex, of the bars up to now. */
  digest(): string {
    this.#flush()
    return this.#hash.copy().digest('hex')
  }

  #putMore(bar: FeedBar): void {
    this.#put(bar.funding_annualized ?? Infinity)
    this.#put(bar.basis_annualized ?? Infinity)
    this.#put(bar.open_interest_usd ?? Infinity)
    this.#put(bar.bid_depth_usd ?? Infinity)
    this.#put(bar.ask_depth_usd ?? Infinity)
    this.#put(bar.fear_greed ?? Infinity)
  }

  #put(value: number): void {
    this.#numbers.setFloat64(this.#length, value, true)
    this.#length += 8
  }

  #flush(): void {
    if (this.#length > 0) this.#hash.update(this.#buffer.subarray(0, this.#length))
    this.#length = 0
  }

  /** A series with bars of another length is another series. */
  #begin({ symbol, resolution_s: seconds }: FeedBar): { readonly seconds: number; readonly number: number } {
    this.#flush()
    const name = Buffer.from(`${symbol}@${seconds}\0`, 'utf8')
    this.#hash.update(name).update(Buffer.alloc((8 - (name.length % 8)) % 8))
    const series = { seconds, number: this.#count }
    this.#count += 1
    this.#series.set(symbol, series)
    return series
  }
}

const hasMore = (bar: FeedBar): boolean =>
  bar.funding_annualized !== null ||
  bar.basis_annualized !== null ||
  bar.open_interest_usd !== null ||
  bar.bid_depth_usd !== null ||
  bar.ask_depth_usd !== null ||
  bar.fear_greed !== null

const BAR_BYTES_MAX = 14 * 8
const BUFFER_BYTES = 64 * 1024
