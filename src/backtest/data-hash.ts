import { createHash } from 'node:crypto'
import type { FeedBar } from '../core/market/bar.ts'

/**
 * SHA-256 over all bars that a run read, in their order: for each the symbol as UTF-8 with a zero byte behind it, padded
 * with zero bytes to a multiple of eight, then little-endian doubles: time of the open in milliseconds, length in
 * seconds, open, high, low, close, volume, volume in USD, funding, basis, open interest, depth of bids and asks, fear and
 * greed. What a bar does not have is +infinity.
 */
export class DataHash {
  readonly #hash = createHash('sha256')
  readonly #buffer = Buffer.alloc(BUFFER_BYTES)
  readonly #numbers = new DataView(this.#buffer.buffer, this.#buffer.byteOffset, BUFFER_BYTES)
  readonly #names = new Map<string, Buffer>()
  #length = 0

  add(openMs: number, bars: readonly FeedBar[]): void {
    for (const bar of bars) {
      const name = this.#nameOf(bar.symbol)
      if (this.#length + name.length + NUMBER_BYTES > BUFFER_BYTES) this.#flush()
      name.copy(this.#buffer, this.#length)
      this.#length += name.length
      this.#put(openMs)
      this.#put(bar.resolution_s)
      this.#put(bar.open)
      this.#put(bar.high)
      this.#put(bar.low)
      this.#put(bar.close)
      this.#put(bar.volume)
      this.#put(bar.quote_volume)
      this.#put(bar.funding_annualized)
      this.#put(bar.basis_annualized)
      this.#put(bar.open_interest_usd)
      this.#put(bar.bid_depth_usd)
      this.#put(bar.ask_depth_usd)
      this.#put(bar.fear_greed)
    }
  }

  /** In hex, of the bars up to now. */
  digest(): string {
    this.#flush()
    return this.#hash.copy().digest('hex')
  }

  #put(value: number | null): void {
    this.#numbers.setFloat64(this.#length, value ?? Infinity, true)
    this.#length += 8
  }

  #flush(): void {
    this.#hash.update(this.#buffer.subarray(0, this.#length))
    this.#length = 0
  }

  #nameOf(symbol: string): Buffer {
    const known = this.#names.get(symbol)
    if (known !== undefined) return known
    const text = Buffer.from(`${symbol}\0`, 'utf8')
    const name = Buffer.concat([text, Buffer.alloc((8 - (text.length % 8)) % 8)])
    this.#names.set(symbol, name)
    return name
  }
}

const NUMBER_BYTES = 14 * 8
const BUFFER_BYTES = 64 * 1024
