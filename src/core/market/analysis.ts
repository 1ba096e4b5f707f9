import type { FeedBar } from './bar.ts'
import type { AnalysisBar } from './view.ts'

/** How bars are put together for indicators. Told by the events of a start, so that every fold does it alike. */
export interface AnalysisRules {
  readonly barSeconds: number
  readonly varianceDecay: number
}

export interface Analysis {
  /** Closed ones, oldest first. */
  readonly bars: readonly AnalysisBar[]
  readonly forming: AnalysisBar | null
  readonly variance: number | null
}

export const INITIAL_ANALYSIS: Analysis = { bars: [], forming: null, variance: null }

/** Enough for the slowest indicator to have forgotten how it began. */
export const ANALYSIS_BARS_MAX = 400

/** Takes the next bar. Bars come in order; an analysis bar with a gap in it is closed with what it has. */
export const analysed = (before: Analysis, bar: FeedBar, rules: AnalysisRules): Analysis => {
  const lengthMs = rules.barSeconds * 1000
  const openMs = Math.floor(Date.parse(bar.open_ts) / lengthMs) * lengthMs
  const isNext = before.forming !== null && before.forming.openMs < openMs
  const ready = isNext ? closed(before, rules) : before
  const forming = ready.forming === null ? begun(bar, openMs) : joined(ready.forming, bar)
  const after = { bars: ready.bars, forming, variance: ready.variance }
  return Date.parse(bar.close_ts) >= openMs + lengthMs ? closed(after, rules) : after
}

const closed = ({ bars, forming, variance }: Analysis, { varianceDecay }: AnalysisRules): Analysis => {
  if (forming === null) return { bars, forming, variance }
  const last = bars.at(-1)
  const kept = bars.length < ANALYSIS_BARS_MAX ? bars : bars.slice(1 - ANALYSIS_BARS_MAX)
  return {
    bars: [...kept, forming],
    forming: null,
    variance: last === undefined ? null : decayed(variance, forming.close / last.close - 1, varianceDecay),
  }
}

const decayed = (variance: number | null, change: number, decay: number): number =>
  variance === null ? change * change : decay * variance + (1 - decay) * change * change

const begun = (bar: FeedBar, openMs: number): AnalysisBar => ({
  openMs,
  open: bar.open,
  high: bar.high,
  low: bar.low,
  close: bar.close,
  volume: bar.volume,
  quoteVolume: bar.quote_volume,
  openInterestUsd: bar.open_interest_usd,
})

const joined = (forming: AnalysisBar, bar: FeedBar): AnalysisBar => ({
  openMs: forming.openMs,
  open: forming.open,
  high: Math.max(forming.high, bar.high),
  low: Math.min(forming.low, bar.low),
  close: bar.close,
  volume: forming.volume + bar.volume,
  quoteVolume: forming.quoteVolume + bar.quote_volume,
  openInterestUsd: bar.open_interest_usd ?? forming.openInterestUsd,
})
