import type { FeedBar } from '../core/market/bar.ts'
import { canonicalSymbol } from '../core/shared/symbol.ts'

/** Times in milliseconds, then prices: the open, high, low and close of some bars together. */
export type Candle = readonly [openMs: number, open: number, high: number, low: number, close: number]

/** Opens of a symbol at even steps. */
export interface PricePath {
  readonly opens: readonly number[]
  /** Bars from one open to the next. */
  readonly stepBars: number
}

/** Keeps at most so many values: when they are full, every second one goes and new ones come half as often. */
class ThinnedSeries {
  readonly #countMax: number
  #values: number[] = []
  #step = 1
  #skipped = 0

  constructor(countMax: number) {
    this.#countMax = countMax
  }

  add(value: number): void {
    if (this.#skipped > 0) {
      this.#skipped -= 1
      return
    }
    if (this.#values.length === this.#countMax) {
      this.#values = this.#values.filter((_, index) => index % 2 === 0)
      this.#step *= 2
    }
    this.#values.push(value)
    this.#skipped = this.#step - 1
  }

  path(): PricePath {
    return { opens: this.#values, stepBars: this.#step }
  }
}

/** Candles of a whole run: when there are too many, two become one and new ones are made of twice as many bars. */
class CandleSeries {
  #candles: MutableCandle[] = []
  #last: MutableCandle | null = null
  #barsPerCandle = 1
  #barsInLast = 0

  add(openMs: number, { open, high, low, close }: FeedBar): void {
    const last = this.#last
    if (last !== null && this.#barsInLast < this.#barsPerCandle) {
      if (high > last[2]) last[2] = high
      if (low < last[3]) last[3] = low
      last[4] = close
      this.#barsInLast += 1
      return
    }
    if (this.#candles.length === CANDLES_MAX) {
      this.#candles = halved(this.#candles, merged)
      this.#barsPerCandle *= 2
    }
    this.#last = [openMs, open, high, low, close]
    this.#candles.push(this.#last)
    this.#barsInLast = 1
  }

  candles(): readonly Candle[] {
    return this.#candles
  }
}

type MutableCandle = [openMs: number, open: number, high: number, low: number, close: number]

const merged = (one: MutableCandle, other: MutableCandle): MutableCandle => [
  one[0],
  one[1],
  Math.max(one[2], other[2]),
  Math.min(one[3], other[3]),
  other[4],
]

/** Each two neighbours as one. */
const halved = <Item>(items: readonly Item[], join: (one: Item, other: Item) => Item): Item[] => {
  const joint: Item[] = []
  for (let index = 0; index + 1 < items.length; index += 2) {
    const [one, other] = [items[index], items[index + 1]]
    if (one !== undefined && other !== undefined) joint.push(join(one, other))
  }
  return joint
}

/** Even, so that all pairs are complete. */
const CANDLES_MAX = 600
/** A year of minutes; 4 MB of memory per symbol. */
const OPENS_MAX = 2 ** 19

/** Prices of the traded bars, in bounded memory: candles to draw, and opens at which one might have traded. */
export class PriceHistory {
  readonly #symbols = new Map<string, { readonly candles: CandleSeries; readonly opens: ThinnedSeries }>()

  add(openMs: number, bars: readonly FeedBar[]): void {
    for (const bar of bars) {
      let series = this.#symbols.get(bar.symbol)
      if (series === undefined) {
        series = { candles: new CandleSeries(), opens: new ThinnedSeries(OPENS_MAX) }
        this.#symbols.set(bar.symbol, series)
      }
      series.candles.add(openMs, bar)
      series.opens.add(bar.open)
    }
  }

  candles(): Readonly<Record<string, readonly Candle[]>> {
    return Object.fromEntries(
      [...this.#symbols].map(([symbol, { candles }]) => [canonicalSymbol(symbol), candles.candles()]),
    )
  }

  paths(): ReadonlyMap<string, PricePath> {
    return new Map([...this.#symbols].map(([symbol, { opens }]) => [canonicalSymbol(symbol), opens.path()]))
  }
}

/** Time, equity, the market line, and the deepest fall from the peak since the point before. */
export type EquityPoint = readonly [closeMs: number, equity: number, hold: number, drawdown: number]

/** Points of a curve, thinned like candles: of each stretch its end, and its deepest fall. */
export class CurveHistory {
  #points: MutablePoint[] = []
  #last: MutablePoint | null = null
  #barsPerPoint = 1
  #barsInLast = 0

  add(closeMs: number, equity: number, hold: number, drawdown: number): void {
    const last = this.#last
    if (last !== null && this.#barsInLast < this.#barsPerPoint) {
      last[0] = closeMs
      last[1] = equity
      last[2] = hold
      if (drawdown > last[3]) last[3] = drawdown
      this.#barsInLast += 1
      return
    }
    if (this.#points.length === POINTS_MAX) {
      this.#points = halved(this.#points, joined)
      this.#barsPerPoint *= 2
    }
    this.#last = [closeMs, equity, hold, drawdown]
    this.#points.push(this.#last)
    this.#barsInLast = 1
  }

  points(): readonly EquityPoint[] {
    return this.#points
  }
}

type MutablePoint = [closeMs: number, equity: number, hold: number, drawdown: number]

const joined = (one: MutablePoint, other: MutablePoint): MutablePoint => [
  other[0],
  other[1],
  other[2],
  Math.max(one[3], other[3]),
]

const POINTS_MAX = 600
