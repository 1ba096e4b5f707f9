import { createBarMaker } from '../../src/adapters/feeds/simulated/bars.ts'
import { createPath } from '../../src/adapters/feeds/simulated/path.ts'
import type { Configuration } from '../../src/core/config/schema.ts'
import type { FeedBar } from '../../src/core/market/bar.ts'
import { sha256Hex } from '../../src/engine/sha256.ts'

/** A market whose whole course is known in advance. Only the skilled authors use later bars. */
export interface Course {
  readonly symbols: readonly string[]
  /** All symbols of one close time. */
  readonly bars: readonly (readonly FeedBar[])[]
  /** Which way a symbol went from the close of a bar to that of a later one. */
  moveSign(bar: number, symbol: number, aheadBars: number): 1 | -1
}

export const BEGIN_MS = Date.UTC(2026, 0, 1)

/** A price that is driven up for one bar of each period. */
export interface Pump {
  readonly symbol: number
  readonly pricePhase: number
  readonly everyBars: number
  readonly factor: number
}

export const courseOf = (configuration: Configuration, barCount: number, pump: Pump | null): Course => {
  const { market, universe } = configuration
  const path = createPath({
    settings: market,
    segment: 1,
    symbols: universe.symbols,
    lastBars: new Map(),
    sha256Hex,
  })
  const maker = createBarMaker(path)
  const stepsPerBar = market.bar_seconds / market.tick_seconds
  const free = Array.from({ length: barCount }, (_, index) => {
    for (let step = 0; step < stepsPerBar; step += 1) {
      path.step()
      maker.add()
    }
    const openMs = BEGIN_MS + index * market.bar_seconds * 1000
    return maker.close({ openMs, resolutionSeconds: market.bar_seconds, backfill: false })
  })
  const isDriven = (index: number, { everyBars, pricePhase }: Pump): boolean =>
    index > everyBars && index % everyBars === pricePhase
  const bars =
    pump === null
      ? free
      : free.map((row, index) =>
          isDriven(index, pump)
            ? row.map((bar, symbol) => (symbol === pump.symbol ? driven(bar, pump.factor) : bar))
            : row,
        )
  const closeAt = (bar: number, symbol: number): number =>
    free[Math.min(bar, barCount - 1)]?.[symbol]?.close ?? Number.NaN
  return {
    symbols: universe.symbols,
    bars,
    moveSign: (bar, symbol, aheadBars) => (closeAt(bar + aheadBars, symbol) >= closeAt(bar, symbol) ? 1 : -1),
  }
}

const driven = (bar: FeedBar, factor: number): FeedBar => ({
  ...bar,
  high: Math.max(bar.high, bar.close * factor),
  close: bar.close * factor,
})
