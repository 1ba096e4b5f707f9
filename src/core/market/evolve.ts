import type { CanonicalSymbol, Timestamp } from '../shared/brand.ts'
import { greater, lesser, priceFrom, returnOf, type Price } from '../shared/money.ts'
import { appended } from '../shared/appended.ts'
import { assertFold } from '../shared/assert.ts'
import { Map as PersistentMap } from 'immutable'
import type { KnownEvent, PayloadOf } from '../events/catalogue.ts'
import type { Quote } from '../shared/quote.ts'
import { canonicalSymbol } from '../shared/symbol.ts'
import { dayOf, isFromFuture } from '../shared/time.ts'
import { storedBar, type ObservedBar, type StoredBar } from './bar.ts'

/** A closed bar of the length that indicators use. */
export interface AnalysisBar {
  readonly openMs: number
  readonly open: Price
  readonly high: Price
  readonly low: Price
  readonly close: Price
  readonly volume: number
  readonly quoteVolume: number
  readonly openInterestUsd: number | null
}

/** State of one symbol. Its size does not grow with history. */
export interface SymbolMarket {
  readonly last: StoredBar
  /** A bar so far from the last one that a second bar must confirm it. */
  readonly held: StoredBar | null
  /** Open time of a bar from the future, while earlier bars follow it. Null once bars have caught up. */
  readonly repeatedUntil: Timestamp | null
  /** The last close that is not backfill: backfill is not tradable. */
  readonly mark: Quote | null
  /** Closes of the last hour and the close before them, oldest first. */
  readonly closes: readonly Quote[]
  readonly analysis: Analysis
  /** Latest value of each of the last days, oldest first. */
  readonly fearGreedByDay: readonly { readonly day: string; readonly value: number }[]
}

/** The latest price of each producer. */
type Quotes = PersistentMap<string, Quote>

export interface Market {
  readonly rules: AnalysisRules
  readonly symbols: PersistentMap<CanonicalSymbol, SymbolMarket>
  /** Prices reported by producers. Readers decide which producers they trust. */
  readonly quotes: PersistentMap<CanonicalSymbol, Quotes>
}

export const INITIAL_MARKET: Market = {
  rules: { barSeconds: 900, varianceDecay: 0.97 },
  symbols: PersistentMap(),
  quotes: PersistentMap(),
}

const NO_QUOTES: Quotes = PersistentMap()
const HOUR_MS = 3_600_000
const FEAR_GREED_DAYS = 8
/** Beyond these limits, new symbols and new producers of a symbol are ignored. */
const QUOTED_SYMBOLS_MAX = 2000
const QUOTES_PER_SYMBOL_MAX = 100

/** Bars are folded by `marketAfterBar`. */
export const evolveMarket = (market: Market, event: KnownEvent): Market => {
  switch (event.type) {
    case 'market.bar_held.v1': {
      const key = canonicalSymbol(event.payload.symbol)
      const known = market.symbols.get(key)
      assertFold(known !== undefined, `a bar of ${key} is held without one before it`)
      return { ...market, symbols: market.symbols.set(key, { ...known, held: storedBar(event.payload) }) }
    }
    case 'signal.price_ws.v1':
      return quoted(market, event)
    case 'system.started.v1':
      return restarted(market, event.payload.folding)
    default:
      return market
  }
}

/** The market after a valid bar. */
export const marketAfterBar = (market: Market, observed: ObservedBar): Market => ({
  rules: market.rules,
  symbols: market.symbols.set(
    observed.symbol,
    afterBar(market.symbols.get(observed.symbol), observed, market.rules),
  ),
  quotes: market.quotes,
})

const afterBar = (
  known: SymbolMarket | undefined,
  observed: ObservedBar,
  rules: AnalysisRules,
): SymbolMarket => {
  const { bar, closeMs: atMs } = observed
  const close = { price: bar.close, atMs }
  const before =
    known !== undefined && bar.open_ts < known.last.open_ts ? withoutFuture(known, observed) : known
  const until = before?.repeatedUntil ?? null
  return {
    last: bar,
    held: null,
    repeatedUntil: until !== null && bar.open_ts < until ? until : null,
    mark: bar.backfill ? (before?.mark ?? null) : close,
    closes: withClose(before?.closes ?? [], close),
    analysis: analysed(before?.analysis ?? INITIAL_ANALYSIS, observed, rules),
    fearGreedByDay: withFearGreed(before?.fearGreedByDay ?? [], bar),
  }
}

/** Removes the data that a wrong clock stored beyond this bar. */
const withoutFuture = (
  known: SymbolMarket,
  { openMs, closeMs, bar: { close_ts } }: ObservedBar,
): SymbolMarket => {
  const { forming, variance } = known.analysis
  const isPast = (bar: AnalysisBar): boolean => bar.openMs <= openMs
  return {
    ...known,
    repeatedUntil: known.last.open_ts,
    mark: known.mark !== null && known.mark.atMs < closeMs ? known.mark : null,
    closes: known.closes.filter(({ atMs }) => atMs < closeMs),
    analysis: {
      older: analysisBarsOf(known.analysis).filter(isPast),
      newer: [],
      forming: forming !== null && isPast(forming) ? forming : null,
      variance,
    },
    fearGreedByDay: known.fearGreedByDay.filter(({ day }) => day <= dayOf(close_ts)),
  }
}

/** Adds a close, and keeps those from the latest one that is at least an hour old, the reference of the hourly return. */
const withClose = (closes: readonly Quote[], close: Quote): readonly Quote[] => {
  const oldestMs = close.atMs - HOUR_MS
  let from = 0
  while (from + 1 < closes.length && (closes[from + 1] as Quote).atMs <= oldestMs) from += 1
  return appended(closes, from, close)
}

const withFearGreed = (
  days: SymbolMarket['fearGreedByDay'],
  { close_ts, fear_greed }: StoredBar,
): SymbolMarket['fearGreedByDay'] => {
  if (fear_greed === null) return days
  const day = dayOf(close_ts)
  const last = days.at(-1)
  if (last?.day === day && last.value === fear_greed) return days
  const earlier = last?.day === day ? days.slice(0, -1) : days
  return [...earlier.slice(1 - FEAR_GREED_DAYS), { day, value: fear_greed }]
}

const quoted = (market: Market, event: Extract<KnownEvent, { type: `signal.${string}` }>): Market => {
  const { symbol, price } = event.payload
  if (typeof symbol !== 'string' || typeof price !== 'number' || !(price > 0) || event.source === null) {
    return market
  }
  const key = canonicalSymbol(symbol)
  const atMs = Math.min(Date.parse(event.ts), Date.parse(event.recordedAt))
  const quotes = market.quotes.get(key)
  if (quotes === undefined && market.quotes.size >= QUOTED_SYMBOLS_MAX) return market
  const before = quotes?.get(event.source)
  const isFull = quotes !== undefined && quotes.size >= QUOTES_PER_SYMBOL_MAX
  // A quote from the future, stored by a wrong clock, does not count as newer.
  const isNewer =
    before !== undefined && before.atMs > atMs && !isFromFuture(before.atMs, Date.parse(event.recordedAt))
  if (before === undefined ? isFull : isNewer) return market
  const updated = (quotes ?? NO_QUOTES).set(event.source, { price: priceFrom(price), atMs })
  return { rules: market.rules, symbols: market.symbols, quotes: market.quotes.set(key, updated) }
}

/** A new bar length restarts the analysis bars. */
const restarted = (market: Market, folding: PayloadOf<'system.started.v1'>['folding']): Market => {
  if (folding === undefined) return market
  const rules = { barSeconds: folding.analysis_bar_seconds, varianceDecay: folding.variance_decay }
  const isSameLength = rules.barSeconds === market.rules.barSeconds
  return {
    rules,
    symbols: isSameLength
      ? market.symbols
      : market.symbols.map((known) => ({ ...known, analysis: INITIAL_ANALYSIS })),
    quotes: market.quotes,
  }
}

/** Rules for aggregating bars for indicators. They are part of system.started, so that every fold aggregates alike. */
interface AnalysisRules {
  readonly barSeconds: number
  readonly varianceDecay: number
}

interface Analysis {
  /** Closed analysis bars, oldest first, in two lists, so that adding one copies little. Read by `analysisBarsOf`. */
  readonly older: readonly AnalysisBar[]
  readonly newer: readonly AnalysisBar[]
  readonly forming: AnalysisBar | null
  readonly variance: number | null
}

const INITIAL_ANALYSIS: Analysis = { older: [], newer: [], forming: null, variance: null }

/** Enough for the slowest indicator to converge. */
export const ANALYSIS_BARS_MAX = 400
const NEWER_MAX = 20

/** The latest closed analysis bars, oldest first. */
export const analysisBarsOf = ({ older, newer }: Analysis): readonly AnalysisBar[] => {
  const known = joinedBars.get(newer)
  if (known !== undefined) return known
  const joined = [...older, ...newer].slice(-ANALYSIS_BARS_MAX)
  joinedBars.set(newer, joined)
  return joined
}

/** Kept until the next bar, because every signal reads them. */
const joinedBars = new WeakMap<readonly AnalysisBar[], readonly AnalysisBar[]>()

/** Adds the next bar. Bars arrive in order. An analysis bar with a gap is closed with the bars that it has. */
const analysed = (before: Analysis, observed: ObservedBar, rules: AnalysisRules): Analysis => {
  const { bar, openMs: barOpenMs, closeMs } = observed
  const lengthMs = rules.barSeconds * 1000
  const openMs = Math.floor(barOpenMs / lengthMs) * lengthMs
  const isNext = before.forming !== null && before.forming.openMs < openMs
  const ready = isNext ? closed(before, rules) : before
  const forming = ready.forming === null ? begun(bar, openMs) : joined(ready.forming, bar)
  const after = { older: ready.older, newer: ready.newer, forming, variance: ready.variance }
  return closeMs >= openMs + lengthMs ? closed(after, rules) : after
}

const closed = (before: Analysis, { varianceDecay }: AnalysisRules): Analysis => {
  const { older, newer, forming, variance } = before
  if (forming === null) return before
  const last = newer.at(-1) ?? older.at(-1)
  const isFull = newer.length === NEWER_MAX
  return {
    older: isFull ? analysisBarsOf(before) : older,
    newer: isFull ? [forming] : appended(newer, 0, forming),
    forming: null,
    variance:
      last === undefined ? null : decayed(variance, returnOf(last.close, forming.close), varianceDecay),
  }
}

/** The variance after another return. */
const decayed = (variance: number | null, change: number, decay: number): number =>
  variance === null ? change * change : decay * variance + (1 - decay) * change * change

const begun = (bar: StoredBar, openMs: number): AnalysisBar => ({
  openMs,
  open: bar.open,
  high: bar.high,
  low: bar.low,
  close: bar.close,
  volume: bar.volume,
  quoteVolume: bar.quote_volume,
  openInterestUsd: bar.open_interest_usd,
})

const joined = (forming: AnalysisBar, bar: StoredBar): AnalysisBar => ({
  openMs: forming.openMs,
  open: forming.open,
  high: greater(forming.high, bar.high),
  low: lesser(forming.low, bar.low),
  close: bar.close,
  volume: forming.volume + bar.volume,
  quoteVolume: forming.quoteVolume + bar.quote_volume,
  openInterestUsd: bar.open_interest_usd ?? forming.openInterestUsd,
})
