import type { MarketFacts } from '../signal-types/declare.ts'
import type { CanonicalSymbol } from '../shared/brand.ts'
import { returnOf, type Price } from '../shared/money.ts'
import { canonicalSymbol } from '../shared/symbol.ts'
import { DAY_MS, dayOf, isFromFuture, msOf, timestampAt } from '../shared/time.ts'
import { analysisBarsOf, type AnalysisBar, type Market, type SymbolMarket } from './evolve.ts'
import type { Quote } from '../shared/quote.ts'

/** Market data for producers. Symbols without a recent bar, or with a bar from the future, are left out. */
export const marketView = (
  market: Market,
  symbols: readonly string[],
  nowMs = Number.POSITIVE_INFINITY,
): MarketView => {
  const known = symbols.flatMap((symbol) => {
    const found = market.symbols.get(canonicalSymbol(symbol))
    const closeMs = Date.parse(found?.last.close_ts ?? '')
    return found === undefined || isFromFuture(closeMs, nowMs) ? [] : [{ symbol, found, closeMs }]
  })
  const asOfMs = known.reduce((newest, { closeMs }) => Math.max(newest, closeMs), 0)
  const oldestMs = asOfMs - CURRENT_BARS * market.rules.barSeconds * 1000
  return {
    asOfMs,
    analysisBarSeconds: market.rules.barSeconds,
    symbols: known
      .filter(({ closeMs }) => closeMs >= oldestMs)
      .map(({ symbol, found }) => new LazySymbolView(symbol, found, market)),
  }
}

/** A symbol is current for this many analysis bars after its last bar. */
const CURRENT_BARS = 2

/** Figures of the last day; null with less than a day of bars. */
export const dayFactsOf = (
  market: Market,
  symbol: CanonicalSymbol,
): Pick<MarketFacts, 'volume24hUsd' | 'return24hPct'> => {
  const known = market.symbols.get(symbol)
  if (known === undefined) return { volume24hUsd: null, return24hPct: null }
  const dayAgo = barADayAgo(known, market.rules.barSeconds)
  if (dayAgo === null) return { volume24hUsd: null, return24hPct: null }
  const bars = analysisBarsOf(known.analysis)
  const { forming } = known.analysis
  let volume24hUsd = forming?.quoteVolume ?? 0
  for (let index = dayAgo.index + 1; index < bars.length; index += 1)
    volume24hUsd += bars[index]?.quoteVolume ?? 0
  return { volume24hUsd, return24hPct: returnOf(dayAgo.bar.close, known.last.close) * 100 }
}

/** Standard deviation of the return of one analysis bar; null before the second bar. */
export const sigmaOf = (market: Market, symbol: CanonicalSymbol): number | null => {
  const variance = market.symbols.get(symbol)?.analysis.variance ?? null
  return variance === null ? null : Math.sqrt(variance)
}

/** Rules for which prices of producers are trusted. */
export interface PriceTrust {
  readonly maxAgeMs: number
  readonly producers: readonly string[]
}

/** The latest price that may be traded on; null if none is recent enough. */
export const markOf = (
  market: Market,
  symbol: CanonicalSymbol,
  nowMs: number,
  trust: PriceTrust,
): Quote | null => {
  const ofBars = market.symbols.get(symbol)?.mark ?? null
  let newest = ofBars === null || isFromFuture(ofBars.atMs, nowMs) ? null : ofBars
  const quotes = market.quotes.get(symbol)
  for (const producer of quotes === undefined ? [] : trust.producers) {
    const quote = quotes?.get(producer)
    if (quote === undefined || isFromFuture(quote.atMs, nowMs)) continue
    if (newest === null || quote.atMs > newest.atMs) newest = quote
  }
  return newest !== null && nowMs - newest.atMs <= trust.maxAgeMs ? newest : null
}

/** Market data of one symbol for producers. A producer reads few of the figures, so each is computed when it is read. */
class LazySymbolView implements SymbolView {
  readonly symbol: string
  readonly #known: SymbolMarket
  readonly #market: Market
  #dayFacts: ReturnType<typeof dayFactsOf> | null = null

  constructor(symbol: string, known: SymbolMarket, market: Market) {
    this.symbol = symbol
    this.#known = known
    this.#market = market
  }

  get analysisBars(): readonly AnalysisBar[] {
    return analysisBarsOf(this.#known.analysis)
  }

  get variance(): number | null {
    return this.#known.analysis.variance
  }

  get close(): Price {
    return this.#known.last.close
  }

  get return1h(): number | null {
    return hourReturn(this.#known)
  }

  get return24h(): number | null {
    const { return24hPct } = this.#ofDay()
    return return24hPct === null ? null : return24hPct / 100
  }

  get volume24hUsd(): number | null {
    return this.#ofDay().volume24hUsd
  }

  get fundingAnnualized(): number | null {
    return this.#known.last.funding_annualized
  }

  get basisAnnualized(): number | null {
    return this.#known.last.basis_annualized
  }

  get openInterestUsd(): number | null {
    return this.#known.last.open_interest_usd
  }

  get openInterestChangePct(): number | null {
    const dayAgo = barADayAgo(this.#known, this.#market.rules.barSeconds)
    return changePct(dayAgo?.bar.openInterestUsd ?? null, this.#known.last.open_interest_usd)
  }

  get bidDepthUsd(): number | null {
    return this.#known.last.bid_depth_usd
  }

  get askDepthUsd(): number | null {
    return this.#known.last.ask_depth_usd
  }

  get fearGreed(): number | null {
    return this.#known.last.fear_greed
  }

  get fearGreedChange7d(): number | null {
    return weekChange(this.#known)
  }

  #ofDay(): ReturnType<typeof dayFactsOf> {
    this.#dayFacts ??= dayFactsOf(this.#market, canonicalSymbol(this.symbol))
    return this.#dayFacts
  }
}

/** A view as plain data, for code in another thread or process: a copy of an object has no members of its class. */
export const plainView = ({ asOfMs, analysisBarSeconds, symbols }: MarketView): MarketView => ({
  asOfMs,
  analysisBarSeconds,
  symbols: symbols.map((view) => ({
    symbol: view.symbol,
    analysisBars: view.analysisBars,
    variance: view.variance,
    close: view.close,
    return1h: view.return1h,
    return24h: view.return24h,
    volume24hUsd: view.volume24hUsd,
    fundingAnnualized: view.fundingAnnualized,
    basisAnnualized: view.basisAnnualized,
    openInterestUsd: view.openInterestUsd,
    openInterestChangePct: view.openInterestChangePct,
    bidDepthUsd: view.bidDepthUsd,
    askDepthUsd: view.askDepthUsd,
    fearGreed: view.fearGreed,
    fearGreedChange7d: view.fearGreedChange7d,
  })),
})

const changePct = (from: number | null, to: number | null): number | null =>
  from === null || to === null || from === 0 ? null : (to / from - 1) * 100

/** Return since the last close that is an hour old; null if there is no close near that time. */
const hourReturn = ({ closes, last }: SymbolMarket): number | null => {
  const [oldest] = closes
  if (oldest === undefined) return null
  const ageMs = msOf(last.close_ts) - oldest.atMs
  return ageMs >= HOUR_MS && ageMs <= HOUR_MS * HOUR_TOLERANCE ? returnOf(oldest.price, last.close) : null
}

const HOUR_TOLERANCE = 1.5

const HOUR_MS = 3_600_000

const weekChange = ({ fearGreedByDay, last }: SymbolMarket): number | null => {
  const weekAgo = dayOf(timestampAt(msOf(last.close_ts) - 7 * DAY_MS))
  const before = fearGreedByDay.find(({ day }) => day === weekAgo)
  return before === undefined || last.fear_greed === null ? null : last.fear_greed - before.value
}

/** The latest analysis bar that had closed a day before the last bar. */
const barADayAgo = (
  { last, analysis }: SymbolMarket,
  barSeconds: number,
): { readonly index: number; readonly bar: AnalysisBar } | null => {
  const bars = analysisBarsOf(analysis)
  const index = lastOpenedBy(bars, msOf(last.close_ts) - DAY_MS - barSeconds * 1000)
  const bar = bars[index]
  return bar === undefined ? null : { index, bar }
}

/** Binary search: this runs for every signal. */
const lastOpenedBy = (bars: readonly AnalysisBar[], ms: number): number => {
  let [low, high] = [0, bars.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((bars[middle]?.openMs ?? Number.POSITIVE_INFINITY) <= ms) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** Market data of a symbol. */
export interface SymbolView {
  /** Symbol in the spelling of the universe. */
  readonly symbol: string
  /** Oldest first, at most 400. */
  readonly analysisBars: readonly AnalysisBar[]
  /** Variance of the returns of analysis bars; null before the second one. */
  readonly variance: number | null
  /** Close of the latest stored bar. */
  readonly close: Price
  readonly return1h: number | null
  readonly return24h: number | null
  readonly volume24hUsd: number | null
  readonly fundingAnnualized: number | null
  readonly basisAnnualized: number | null
  readonly openInterestUsd: number | null
  /** Change against 24 hours before, in percent. */
  readonly openInterestChangePct: number | null
  readonly bidDepthUsd: number | null
  readonly askDepthUsd: number | null
  readonly fearGreed: number | null
  readonly fearGreedChange7d: number | null
}

export interface MarketView {
  /** Close time of the latest bar. */
  readonly asOfMs: number
  readonly analysisBarSeconds: number
  /** Symbols of the universe that have a bar. */
  readonly symbols: readonly SymbolView[]
}
