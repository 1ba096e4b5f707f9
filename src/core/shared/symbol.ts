import type { CanonicalSymbol } from './brand.ts'

const PLAIN = /^[A-Z0-9]+$/

const SEPARATORS = /[/:_-]/

const QUOTE_SUFFIXES = ['USDT', 'USDC', 'USD', 'PERP'] as const

const BASE_LENGTH_MIN = 2

/**
 * The form in which symbols are compared: `btc/usdt`, `BTC-PERP` and `BTCUSD` are all `BTC`.
 * Empty for text that names nothing. One suffix is dropped, not all: compare original spellings by this form
 * and store the original, since the form of a form may be shorter still.
 */
export const canonicalSymbol = (symbol: string): CanonicalSymbol => {
  // Most symbols are plain, and looking for anything else costs ten times as much.
  if (PLAIN.test(symbol)) return withoutQuote(symbol)
  const [pair = ''] = symbol.trim().normalize('NFKC').toUpperCase().split(SEPARATORS, 1)
  return withoutQuote(pair.trim())
}

const withoutQuote = (pair: string): CanonicalSymbol => {
  const suffix = QUOTE_SUFFIXES.find((candidate) => pair.endsWith(candidate))
  if (suffix === undefined) return pair as CanonicalSymbol
  const base = pair.slice(0, -suffix.length)
  return (base.length >= BASE_LENGTH_MIN ? base : pair) as CanonicalSymbol
}
