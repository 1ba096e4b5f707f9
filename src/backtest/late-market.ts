import type { FeedBar, StoredBar } from '../core/market/bar.ts'
import { INITIAL_MARKET, type Market, type SymbolMarket } from '../core/market/evolve.ts'
import type { CanonicalSymbol } from '../core/shared/brand.ts'
import { priceNumber } from '../core/shared/money.ts'
import { afterBars } from './fold-bars.ts'

/** What was folded of a symbol, and its bars since then. */
export interface LateSymbol {
  known: SymbolMarket
  bars: FeedBar[]
  openMs: number[]
}

/** The newest bar, folded or not. */
export const lastOf = ({ known, bars }: LateSymbol): FeedBar | StoredBar => bars.at(-1) ?? known.last

export const lastCloseOf = ({ known, bars }: LateSymbol): number =>
  bars.at(-1)?.close ?? priceNumber(known.last.close)

export const lastCloseMsOf = ({ known, bars, openMs }: LateSymbol): number => {
  const last = bars.at(-1)
  // A bar that is late is as long as it says.
  return last === undefined
    ? Date.parse(known.last.close_ts)
    : (openMs.at(-1) ?? Number.NaN) + last.resolution_s * 1000
}

/** The bars that a symbol has at one time: more may come behind them. */
interface LateBars extends Readonly<LateSymbol> {
  readonly key: CanonicalSymbol
  readonly symbol: LateSymbol
  readonly count: number
}

/** A day of minutes. Shorter bars are folded more often, so that memory stays small. */
const BARS_MAX = 1440

/** A market whose symbols are looked up when they are read. */
class LateView implements Omit<Market, 'symbols'> {
  readonly rules: Market['rules']
  readonly quotes: Market['quotes']
  readonly #look: () => Market['symbols']

  constructor(rules: Market['rules'], quotes: Market['quotes'], look: () => Market['symbols']) {
    this.rules = rules
    this.quotes = quotes
    this.#look = look
    // A member of its own, which copies have, too. With one reader for all of them they keep one shape, and stay fast.
    Object.defineProperty(this, 'symbols', LateView.#symbols)
  }

  static readonly #symbols: PropertyDescriptor = {
    enumerable: true,
    configurable: true,
    get(this: LateView) {
      return this.#look()
    },
  }
}

/**
 * Folds the bars of a run into the market when somebody looks at its symbols. Trades are made at the open of the next
 * bar, so for most of them nobody does.
 */
export class LateMarket {
  readonly #symbols = new Map<CanonicalSymbol, LateSymbol>()
  /** Without the bars that are late. */
  #folded = INITIAL_MARKET.symbols
  /** With all bars that `after` has seen. */
  #market = INITIAL_MARKET

  /** The symbol in this market; undefined if it has none of that name. */
  symbolIn(market: Market, key: CanonicalSymbol): LateSymbol | undefined {
    // Somebody else has changed it: then it has all bars.
    if (market !== this.#market) {
      this.#symbols.clear()
      this.#folded = market.symbols
      this.#market = market
    }
    const late = this.#symbols.get(key)
    if (late !== undefined) return late
    const known = market.symbols.get(key)
    if (known === undefined) return undefined
    const begun = { known, bars: [], openMs: [] }
    this.#symbols.set(key, begun)
    return begun
  }

  /** The market with the bars that its symbols got since. All of them are of the warm-up, or none is. */
  after({ rules, quotes }: Market, backfill: boolean): Market {
    const folded = this.#folded
    const late: LateBars[] = []
    for (const [key, symbol] of this.#symbols) {
      const { known, bars, openMs } = symbol
      if (bars.length > 0) late.push({ key, symbol, known, bars, openMs, count: bars.length })
    }
    let symbols: Market['symbols'] | null = null
    const look = (): Market['symbols'] => {
      if (symbols !== null) return symbols
      symbols = folded.withMutations((all) => {
        for (const { key, known, bars, openMs, count } of late) {
          const run = {
            bars: bars.slice(0, count),
            openMs: openMs.slice(0, count),
            backfill,
          }
          all.set(key, afterBars(known, run, rules))
        }
      })
      // One of an earlier time, that somebody has kept.
      if (this.#market !== market) return symbols
      this.#folded = symbols
      for (const { key, symbol, count } of late) {
        symbol.known = symbols.get(key) ?? symbol.known
        symbol.bars = symbol.bars.slice(count)
        symbol.openMs = symbol.openMs.slice(count)
      }
      return symbols
    }
    const market: Market = new LateView(rules, quotes, look) as unknown as Market
    this.#market = market
    if (backfill || late.some(({ count }) => count >= BARS_MAX)) this.fold()
    return market
  }

  /** Folds what is late. */
  fold(): void {
    void this.#market.symbols
  }
}
