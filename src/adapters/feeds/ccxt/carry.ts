import { r9 } from '../../../core/shared/numbers.ts'
import type { Perpetual } from './markets.ts'
import { cents, memberOf, numberOf, positiveOf } from './values.ts'

/** What a venue says about a perpetual at one moment. */
export interface PerpetualQuote {
  /** Paid by longs to shorts at the next funding, as a part of the position. */
  readonly fundingRate: number | null
  readonly markPrice: number | null
  /** Spot prices of several venues, from the same moment as the mark. */
  readonly indexPrice: number | null
  /** Between two fundings, where the answer says it. */
  readonly intervalMs: number | null
}

export const readPerpetualQuote = (answer: unknown): PerpetualQuote => ({
  fundingRate: numberOf(memberOf(answer, 'fundingRate')),
  markPrice: positiveOf(memberOf(answer, 'markPrice')),
  indexPrice: positiveOf(memberOf(answer, 'indexPrice')),
  intervalMs: hoursOf(memberOf(answer, 'interval')),
})

/** The time between the two newest fundings that were paid. */
export const readFundingIntervalMs = (history: unknown): number | null => {
  const paid = (Array.isArray(history) ? (history as readonly unknown[]) : [])
    .flatMap((entry) => positiveOf(memberOf(entry, 'timestamp')) ?? [])
    .sort((left, right) => left - right)
  const [before, last] = paid.slice(-2)
  if (before === undefined || last === undefined) return null
  // Venues write down the moment of payment, a few milliseconds behind the hour.
  const intervalMs = Math.round((last - before) / HOUR_MS) * HOUR_MS
  return intervalMs > 0 ? intervalMs : null
}

/** Percent per year: rate · fundings per year · 100. */
export const fundingAnnualized = (rate: number | null, intervalMs: number | null): number | null =>
  rate === null || intervalMs === null ? null : r9((rate * YEAR_MS * 100) / intervalMs)

/**
 * Percent per year: (perpetual / spot - 1) · fundings per year · 100. A perpetual has no expiry over which its premium
 * melts; the premium is what funding is made of, once per interval, so both have the same scale.
 */
export const basisAnnualized = (
  perpetualPrice: number | null,
  spotPrice: number | null,
  intervalMs: number | null,
): number | null =>
  perpetualPrice === null || spotPrice === null
    ? null
    : fundingAnnualized(perpetualPrice / spotPrice - 1, intervalMs)

/**
 * In USD, as the venue tells it, or amount · price where one contract is one unit. Elsewhere venues differ in whether they
 * count contracts or units, so nothing is said.
 */
export const openInterestUsd = (
  answer: unknown,
  { contractSize }: Perpetual,
  price: number | null,
): number | null => {
  const valueUsd = numberOf(memberOf(answer, 'openInterestValue'))
  if (valueUsd !== null) return valueUsd >= 0 ? cents(valueUsd) : null
  const amount = numberOf(memberOf(answer, 'openInterestAmount'))
  if (amount === null || amount < 0 || price === null || contractSize !== 1) return null
  return cents(amount * price)
}

const HOUR_MS = 3_600_000
const YEAR_MS = 365 * 24 * HOUR_MS

/** `8h` */
const hoursOf = (interval: unknown): number | null => {
  const [, hours] = /^(\d{1,3})h$/.exec(typeof interval === 'string' ? interval : '') ?? []
  return hours === undefined || Number(hours) === 0 ? null : Number(hours) * HOUR_MS
}
