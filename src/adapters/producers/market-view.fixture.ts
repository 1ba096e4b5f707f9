import { priceFrom } from '../../core/shared/money.ts'
import type { AnalysisBar } from '../../core/market/evolve.ts'
import type { MarketView, SymbolView } from '../../core/market/readings.ts'

export const BAR_SECONDS = 900

/** View of a symbol from a feed that provides prices only. */
export const symbolView = (said: Partial<SymbolView> = {}): SymbolView => ({
  symbol: 'BTC',
  analysisBars: [],
  variance: null,
  close: priceFrom(100),
  return1h: null,
  return24h: null,
  volume24hUsd: null,
  fundingAnnualized: null,
  basisAnnualized: null,
  openInterestUsd: null,
  openInterestChangePct: null,
  bidDepthUsd: null,
  askDepthUsd: null,
  fearGreed: null,
  fearGreedChange7d: null,
  ...said,
})

/** View at the close of the newest analysis bar. */
export const marketView = (...symbols: readonly SymbolView[]): MarketView => {
  const openMs = Math.max(0, ...symbols.map(({ analysisBars }) => analysisBars.at(-1)?.openMs ?? 0))
  return { asOfMs: openMs + BAR_SECONDS * 1000, analysisBarSeconds: BAR_SECONDS, symbols }
}

/** One bar per close, without wicks. Each opens at the close of the previous one. */
export const barsOf = (closes: readonly number[]): readonly AnalysisBar[] =>
  closes.map((close, index) => {
    const open = closes[index - 1] ?? close
    return {
      openMs: index * BAR_SECONDS * 1000,
      open: priceFrom(open),
      high: priceFrom(Math.max(open, close)),
      low: priceFrom(Math.min(open, close)),
      close: priceFrom(close),
      volume: 10,
      quoteVolume: 10 * close,
      openInterestUsd: null,
    }
  })
