import { canonicalSymbol } from '../../../core/shared/symbol.ts'
import { DOLLARS, memberOf, positiveOf } from '../../ccxt.ts'

/** A symbol of the universe, and where the exchange trades it. */
export interface WatchedSymbol {
  /** In the spelling of the universe. */
  readonly symbol: string
  /** Bars, ticks and the book come from here: the spot market, or the perpetual where there is no spot market. */
  readonly market: string
  readonly isSpot: boolean
  /** Funding, basis and open interest come from here. */
  readonly perpetual: Perpetual | null
}

export interface Perpetual {
  readonly market: string
  /** In units of the symbol; null where the exchange does not say. */
  readonly contractSize: number | null
}

export interface MarketChoice {
  readonly watched: readonly WatchedSymbol[]
  /** Symbols that the exchange does not trade against dollars. */
  readonly missing: readonly string[]
}

/** Finds the markets of a universe. A stablecoin of the dollar counts as the dollar; the first of the list wins. */
export const chooseMarkets = (markets: unknown, symbols: readonly string[]): MarketChoice => {
  const listed = Object.values(typeof markets === 'object' && markets !== null ? markets : {}).flatMap(
    marketsIn,
  )
  if (listed.length === 0) throw new Error('the exchange lists no market')
  const found = symbols.map((symbol) => ({ symbol, watched: watchedOf(symbol, listed) }))
  return {
    watched: found.flatMap(({ watched }) => (watched === null ? [] : [watched])),
    missing: found.filter(({ watched }) => watched === null).map(({ symbol }) => symbol),
  }
}

interface Market {
  readonly name: string
  readonly base: string
  readonly quote: string
  readonly isSpot: boolean
  readonly contractSize: number | null
}

const watchedOf = (symbol: string, listed: readonly Market[]): WatchedSymbol | null => {
  const base = canonicalSymbol(symbol)
  const spot = bestOf(listed.filter((market) => market.isSpot && market.base === base))
  const swap = bestOf(listed.filter((market) => !market.isSpot && market.base === base))
  const first = spot ?? swap
  if (first === null) return null
  const perpetual = swap === null ? null : { market: swap.name, contractSize: swap.contractSize }
  return { symbol, market: first.name, isSpot: first.isSpot, perpetual }
}

const bestOf = (markets: readonly Market[]): Market | null => {
  for (const dollar of DOLLARS) {
    const found = markets.find(({ quote }) => quote === dollar)
    if (found !== undefined) return found
  }
  return null
}

/** Spot markets and perpetuals that are settled in what they are quoted in; nothing that is closed. */
const marketsIn = (entry: unknown): readonly Market[] => {
  const [name, base, quote] = ['symbol', 'base', 'quote'].map((member) => memberOf(entry, member))
  const isSpot = memberOf(entry, 'spot') === true
  const isPerpetual = memberOf(entry, 'swap') === true && memberOf(entry, 'linear') === true
  if (typeof name !== 'string' || typeof base !== 'string' || typeof quote !== 'string') return []
  if (memberOf(entry, 'active') === false || !(isSpot || isPerpetual)) return []
  return [{ name, base, quote, isSpot, contractSize: positiveOf(memberOf(entry, 'contractSize')) }]
}
