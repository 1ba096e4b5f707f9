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

/** Keeps at most `OPENS_MAX` values: when they are full, every second one goes and new ones come half as often. */
class ThinnedSeries {
  #values: number[] = []
  #step = 1
  #skipped = 0

  add(value: number): void {
    if (this.#skipped > 0) {
      this.#skipped -= 1
      return
    }
    if (this.#values.length === OPENS_MAX) {
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

/**
 * A series with a bounded number of points for a whole run. When it is full, each two points become one, and new points
 * cover twice as many bars.
 */
class JoinedSeries<Point> {
  readonly #join: (point: Point, next: Point) => void
  #points: Point[] = []
  #last: Point | null = null
  #barsPerPoint = 1
  #barsInLast = 0

  /** `join` takes the point that follows into one. */
  constructor(join: (point: Point, next: Point) => void) {
    this.#join = join
  }

  add(point: Point): void {
    if (this.#last !== null && this.#barsInLast < this.#barsPerPoint) {
      this.#join(this.#last, point)
      this.#barsInLast += 1
      return
    }
    if (this.#points.length === POINTS_MAX) {
      this.#halve()
      this.#barsPerPoint *= 2
    }
    this.#last = point
    this.#points.push(point)
    this.#barsInLast = 1
  }

  points(): readonly Point[] {
    return this.#points
  }

  #halve(): void {
    const all = this.#points
    this.#points = all.filter((_, index) => index % 2 === 0)
    for (const [index, point] of this.#points.entries()) this.#join(point, all[2 * index + 1] as Point)
  }
}

/** Even, so that all pairs are complete. */
const POINTS_MAX = 600

type MutableCandle = [openMs: number, open: number, high: number, low: number, close: number]

const joinCandle = (candle: MutableCandle, next: MutableCandle): void => {
  candle[2] = Math.max(candle[2], next[2])
  candle[3] = Math.min(candle[3], next[3])
  candle[4] = next[4]
}

/** A year of minutes; 4 MB of memory per symbol. */
const OPENS_MAX = 2 ** 19

/** Prices of the traded bars, in bounded memory: candles to draw, and opens at which one might have traded. */
export class PriceHistory {
  readonly #symbols = new Map<
    string,
    { readonly candles: JoinedSeries<MutableCandle>; readonly opens: ThinnedSeries }
  >()

  add(openMs: number, bars: readonly FeedBar[]): void {
    for (const bar of bars) {
      let series = this.#symbols.get(bar.symbol)
      if (series === undefined) {
        series = { candles: new JoinedSeries(joinCandle), opens: new ThinnedSeries() }
        this.#symbols.set(bar.symbol, series)
      }
      series.candles.add([openMs, bar.open, bar.high, bar.low, bar.close])
      series.opens.add(bar.open)
    }
  }

  candles(): Readonly<Record<string, readonly Candle[]>> {
    return Object.fromEntries(
      [...this.#symbols].map(([symbol, { candles }]) => [canonicalSymbol(symbol), candles.points()]),
    )
  }

  paths(): ReadonlyMap<string, PricePath> {
    return new Map([...this.#symbols].map(([symbol, { opens }]) => [canonicalSymbol(symbol), opens.path()]))
  }
}

/** Time, equity, the market line, and the deepest fall from the peak since the point before. */
export type EquityPoint = readonly [closeMs: number, equity: number, hold: number, drawdown: number]

/** Points of a curve, joined like candles: of each stretch its end, and its deepest fall. */
export class CurveHistory {
  readonly #series = new JoinedSeries(joinPoint)

  add(closeMs: number, equity: number, hold: number, drawdown: number): void {
    this.#series.add([closeMs, equity, hold, drawdown])
  }

  points(): readonly EquityPoint[] {
    return this.#series.points()
  }
}

type MutablePoint = [closeMs: number, equity: number, hold: number, drawdown: number]

const joinPoint = (point: MutablePoint, next: MutablePoint): void => {
  point[0] = next[0]
  point[1] = next[1]
  point[2] = next[2]
  point[3] = Math.max(point[3], next[3])
}
