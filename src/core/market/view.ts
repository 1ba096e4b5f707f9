/** One closed bar of the length that indicators are computed on. */
export interface AnalysisBar {
  readonly openMs: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly volume: number
  readonly quoteVolume: number
  readonly openInterestUsd: number | null
}

/** What the folded market knows of a symbol. */
export interface SymbolView {
  readonly symbol: string
  /** Oldest first, at most 400. */
  readonly analysisBars: readonly AnalysisBar[]
  /** Of the returns of analysis bars; null before the second. */
  readonly variance: number | null
  /** Of the newest stored bar. */
  readonly close: number
  readonly return1h: number | null
  readonly return24h: number | null
  readonly volume24hUsd: number | null
  readonly fundingAnnualized: number | null
  readonly basisAnnualized: number | null
  readonly openInterestUsd: number | null
  /** Against 24 hours before, in percent. */
  readonly openInterestChangePct: number | null
  readonly bidDepthUsd: number | null
  readonly askDepthUsd: number | null
  readonly fearGreed: number | null
  readonly fearGreedChange7d: number | null
}

export interface MarketView {
  /** Close time of the newest bar. */
  readonly asOfMs: number
  readonly analysisBarSeconds: number
  /** Symbols of the universe that have a bar. */
  readonly symbols: readonly SymbolView[]
}
