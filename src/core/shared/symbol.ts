import type { CanonicalSymbol } from './brand.ts'

const SEPARATORS = /[/:_-]/

const QUOTE_SUFFIXES = ['USDT', 'USDC', 'USD', 'PERP'] as const

const BASE_LENGTH_MIN = 2

/**
 * The form in which symbols are compared: `btc/usdt`, `BTC-PERP` and `BTCUSD` are all `BTC`. Empty for text that names
 * no symbol. Only one suffix is dropped, so the form of a form may be shorter still: store original spellings, and
 * compare them by this form.
 */
export const canonicalSymbol = (symbol: string): CanonicalSymbol => {
  const known = seen.get(symbol)
  if (known !== undefined) return known
  const [pair = ''] = symbol.trim().normalize('NFKC').toUpperCase().split(SEPARATORS, 1)
  const canonical = withoutQuote(pair.trim())
  if (seen.size >= SEEN_MAX) seen.clear()
  if (symbol.length <= SEEN_LENGTH_MAX) seen.set(symbol, canonical)
  return canonical
}

/** False for a signal about the market as a whole, and for text that names no symbol. */
export const namesAsset = (symbol: CanonicalSymbol): boolean => symbol !== '' && symbol !== 'GLOBAL'

/** Cached, because decisions use few symbols many times. The cache is limited, because clients can send any text. */
const seen = new Map<string, CanonicalSymbol>()
const SEEN_MAX = 10_000
const SEEN_LENGTH_MAX = 64

const withoutQuote = (pair: string): CanonicalSymbol => {
  const suffix = QUOTE_SUFFIXES.find((candidate) => pair.endsWith(candidate))
  if (suffix === undefined) return pair as CanonicalSymbol
  const base = pair.slice(0, -suffix.length)
  return (base.length >= BASE_LENGTH_MIN ? base : pair) as CanonicalSymbol
}
