import type { FeedBar } from '../core/market/bar.ts'
import { timestampAt } from '../core/shared/time.ts'

export interface MinuteBars {
  readonly seed: number
  readonly count: number
  readonly symbols?: readonly string[]
  /** Standard deviation of the return of a minute. */
  readonly sigma?: number
  readonly beginMs?: number
  /** Chance that a symbol has no bar in a minute. */
  readonly gaps?: number
  /** True if bars also have funding, depth, open interest and fear and greed. */
  readonly hasSideValues?: boolean
}

/** A random walk in minutes, identical for equal seeds. Bars of a minute form one group. */
export const minuteBars = ({
  seed,
  count,
  symbols = ['BTC'],
  sigma = 0.002,
  beginMs = Date.UTC(2026, 0, 1),
  gaps = 0,
  hasSideValues = false,
}: MinuteBars): readonly (readonly FeedBar[])[] => {
  const draw = drawsOf(seed)
  const closes = new Map(symbols.map((symbol, index) => [symbol, 100 * 10 ** (index % 4)]))
  const bars = Array.from({ length: count }, (_, index) => {
    const openMs = beginMs + index * 60_000
    return symbols.flatMap((symbol): readonly FeedBar[] => {
      const before = closes.get(symbol) ?? 100
      const close = cents(before * (1 + sigma * normalOf(draw)))
      const open = cents(before * (1 + 0.1 * sigma * normalOf(draw)))
      const high = cents(Math.max(open, close) * (1 + 0.3 * sigma * draw()))
      const low = cents(Math.min(open, close) * (1 - 0.3 * sigma * draw()))
      const sides = [draw(), draw(), draw()]
      closes.set(symbol, close)
      if (draw() < gaps) return []
      const [one = 0, two = 0, three = 0] = hasSideValues ? sides : []
      return [
        {
          symbol,
          resolution_s: 60,
          open_ts: timestampAt(openMs),
          close_ts: timestampAt(openMs + 60_000),
          open,
          high,
          low,
          close,
          volume: cents(1 + 10 * draw()),
          quote_volume: cents(100 + 1000 * draw()),
          funding_annualized: hasSideValues ? cents(30 * (one - 0.4)) : null,
          basis_annualized: hasSideValues && two > 0.3 ? cents(10 * two) : null,
          open_interest_usd: hasSideValues && three > 0.2 ? cents(1e6 * (1 + three)) : null,
          bid_depth_usd: hasSideValues ? cents(1e5 * one) : null,
          ask_depth_usd: hasSideValues ? cents(1e5 * two) : null,
          fear_greed: hasSideValues && one > 0.1 ? Math.round(100 * two) : null,
          backfill: false,
        },
      ]
    })
  })
  return bars.filter((group) => group.length > 0)
}

export const cents = (value: number): number => Math.round(value * 100) / 100

/** The Mulberry32 generator. */
export const drawsOf = (seed: number): (() => number) => {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const normalOf = (draw: () => number): number => {
  let sum = -6
  for (let index = 0; index < 12; index += 1) sum += draw()
  return sum
}
