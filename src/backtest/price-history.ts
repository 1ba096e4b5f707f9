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
  #candles: Candle[] = []
  #barsPerCandle = 1
  #barsInLast = 0

  add(openMs: number, { open, high, low, close }: FeedBar): void {
    const last = this.#candles.at(-1)
    if (last !== undefined && this.#barsInLast < this.#barsPerCandle) {
      this.#candles[this.#candles.length - 1] = merged(last, [openMs, open, high, low, close])
      this.#barsInLast += 1
      return
    }
    if (this.#candles.length === CANDLES_MAX) this.#halve()
    this.#candles.push([openMs, open, high, low, close])
    this.#barsInLast = 1
  }

  candles(): readonly Candle[] {
    return this.#candles
  }

  #halve(): void {
    const halved: Candle[] = []
    for (let index = 0; index + 1 < this.#candles.length; index += 2) {
      const [one, other] = [this.#candles[index], this.#candles[index + 1]]
      if (one !== undefined && other !== undefined) halved.push(merged(one, other))
    }
    this.#candles = halved
    this.#barsPerCandle *= 2
  }
}

const merged = (one: Candle, other: Candle): Candle => [
  one[0],
  one[1],
  Math.max(one[2], other[2]),
  Math.min(one[3], other[3]),
  other[4],
]

/** Even, so that all pairs are complete. */
const CANDLES_MAX = 600
/** A year of minutes; 4 MB of memory per symbol. */
const OPENS_MAX = 2 ** 19

/** Prices of the traded bars, in bounded memory: candles to draw, and opens at which one might have traded. */
export class PriceHistory {
  readonly #candles = new Map<string, CandleSeries>()
  readonly #opens = new Map<string, ThinnedSeries>()

  add(openMs: number, bars: readonly FeedBar[]): void {
    for (const bar of bars) {
      let candles = this.#candles.get(bar.symbol)
      let opens = this.#opens.get(bar.symbol)
      if (candles === undefined || opens === undefined) {
        candles = new CandleSeries()
        opens = new ThinnedSeries(OPENS_MAX)
        this.#candles.set(bar.symbol, candles)
        this.#opens.set(bar.symbol, opens)
      }
      candles.add(openMs, bar)
      opens.add(bar.open)
    }
  }

  candles(): Readonly<Record<string, readonly Candle[]>> {
    return Object.fromEntries(
      [...this.#candles].map(([symbol, series]) => [canonicalSymbol(symbol), series.candles()]),
    )
  }

  paths(): ReadonlyMap<string, PricePath> {
    return new Map([...this.#opens].map(([symbol, series]) => [canonicalSymbol(symbol), series.path()]))
  }
}

/** Time, equity, the market line, and the deepest fall from the peak since the point before. */
export type EquityPoint = readonly [closeMs: number, equity: number, hold: number, drawdown: number]

/** Points of a curve, thinned like candles: of each stretch its end, and its deepest fall. */
export class CurveHistory {
  #points: EquityPoint[] = []
  #barsPerPoint = 1
  #barsInLast = 0

  add(point: EquityPoint): void {
    const last = this.#points.at(-1)
    if (last !== undefined && this.#barsInLast < this.#barsPerPoint) {
      this.#points[this.#points.length - 1] = joined(last, point)
      this.#barsInLast += 1
      return
    }
    if (this.#points.length === POINTS_MAX) this.#halve()
    this.#points.push(point)
    this.#barsInLast = 1
  }

  points(): readonly EquityPoint[] {
    return this.#points
  }

  #halve(): void {
    const halved: EquityPoint[] = []
    for (let index = 0; index + 1 < this.#points.length; index += 2) {
      const [one, other] = [this.#points[index], this.#points[index + 1]]
      if (one !== undefined && other !== undefined) halved.push(joined(one, other))
    }
    this.#points = halved
    this.#barsPerPoint *= 2
  }
}

const joined = (one: EquityPoint, other: EquityPoint): EquityPoint => [
  other[0],
  other[1],
  other[2],
  Math.max(one[3], other[3]),
]

const POINTS_MAX = 600
