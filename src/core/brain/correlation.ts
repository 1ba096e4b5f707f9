import type { Domain } from '../shared/domains.ts'
import { r9 } from '../shared/numbers.ts'
import type { Close } from './closes.ts'

/**
 * How well a domain's authorSignals for the side that was taken goes with winning: Pearson's r over the trades it scored.
 * A bearish domain is credited for a short that won. 0 where too little is known.
 */
export const correlationOf = (closes: readonly Close[], domain: Domain, pairsMin: number): number => {
  const pairs = closes.flatMap(({ values, side, won }) => {
    const value = values[domain]
    return value === undefined ? [] : [{ authorSignals: value * side, result: won ? 1 : -1 }]
  })
  if (pairs.length < pairsMin) return 0
  const authorSignals = meanOf(pairs.map((pair) => pair.authorSignals))
  const result = meanOf(pairs.map((pair) => pair.result))
  let together = 0
  let authors = 0
  let results = 0
  for (const pair of pairs) {
    together += (pair.authorSignals - authorSignals) * (pair.result - result)
    authors += (pair.authorSignals - authorSignals) ** 2
    results += (pair.result - result) ** 2
  }
  // A domain that always says the same differs from its own mean by rounding alone.
  if (authors <= pairs.length * NOISE || results <= pairs.length * NOISE) return 0
  return r9(Math.max(-1, Math.min(1, together / Math.sqrt(authors * results))))
}

export const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length

/** Values have nine decimals: below this square there is nothing to be seen. */
const NOISE = 1e-20
