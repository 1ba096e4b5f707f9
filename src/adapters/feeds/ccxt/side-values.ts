import { r9 } from '../../../core/shared/numbers.ts'
import type { Timer } from '../../../ports/timer.ts'
import { memberOf, numberOf, positiveOf } from '../../ccxt.ts'
import { messageOf, type ErrorReports, type Exchange } from './exchange.ts'
import type { Perpetual, WatchedSymbol } from './markets.ts'
import { HOUR_MS } from '../../../core/shared/time.ts'

/** Values of a bar besides its prices. Null for a value that the exchange does not offer, or did not send. */
export interface SideValues {
  readonly funding_annualized: number | null
  readonly basis_annualized: number | null
  readonly open_interest_usd: number | null
  readonly bid_depth_usd: number | null
  readonly ask_depth_usd: number | null
}

export const NO_SIDE_VALUES: SideValues = {
  funding_annualized: null,
  basis_annualized: null,
  open_interest_usd: null,
  bid_depth_usd: null,
  ask_depth_usd: null,
}

export interface SideValueDependencies {
  readonly exchange: Exchange
  readonly timer: Timer
  readonly errors: ErrorReports
}

/** Requests each value once: a bar does not wait for its side values. Never rejects. */
export const createSideValues = ({
  exchange,
  timer,
  errors,
}: SideValueDependencies): ((watched: WatchedSymbol) => Promise<SideValues>) => {
  const { api, request, supports, isRefusal } = exchange
  const intervals = new Map<string, { readonly ms: number | null; readonly readMs: number }>()
  const basisMeans = new Map<string, RunningMean>()
  let bookLimit: number | undefined = BOOK_LEVELS

  const fetchValue = async (method: string, what: string, call: () => Promise<unknown>): Promise<unknown> => {
    if (!supports(method)) return null
    try {
      const value = await request(call)
      errors.clear(what)
      return value
    } catch (error) {
      errors.warn(what, `bars have no ${what}: ${messageOf(error)}`)
      return null
    }
  }

  const fetchBook = async (market: string): Promise<unknown> => {
    try {
      return await api.fetchOrderBook(market, bookLimit)
    } catch (error) {
      if (bookLimit === undefined || !isRefusal(error)) throw error
      // Not every exchange accepts any limit; all have a default.
      bookLimit = undefined
      return api.fetchOrderBook(market)
    }
  }

  /** Derived from past payments and cached for hours, because exchanges change it rarely. */
  const fundingInterval = async (market: string): Promise<number | null> => {
    const known = intervals.get(market)
    if (known !== undefined && timer.now() - known.readMs < INTERVAL_AGE_MS_MAX) return known.ms
    const history = await fetchValue('fetchFundingRateHistory', `funding interval of ${market}`, () =>
      api.fetchFundingRateHistory(market, undefined, 2),
    )
    const ms = readFundingIntervalMs(history)
    if (history !== null) intervals.set(market, { ms, readMs: timer.now() })
    return ms ?? known?.ms ?? null
  }

  /** The premium at one moment is mostly noise. Funding follows its mean over an interval, and so does this value. */
  const meanBasis = (market: string, basis: number | null, windowMs: number | null): number | null => {
    if (windowMs === null) return null
    const mean = basisMeans.get(market) ?? createRunningMean()
    basisMeans.set(market, mean)
    const smoothed = mean(basis, { atMs: timer.now(), windowMs })
    return smoothed === null ? null : r9(smoothed)
  }

  const perpetualValues = async (perpetual: Perpetual, spot: Promise<Depth | null>) => {
    const { market } = perpetual
    const [rate, interest] = await Promise.all([
      fetchValue('fetchFundingRate', `funding of ${market}`, () => api.fetchFundingRate(market)),
      fetchValue('fetchOpenInterest', `open interest of ${market}`, () => api.fetchOpenInterest(market)),
    ])
    const quote = readPerpetualQuote(rate)
    const needsInterval = quote.fundingRate !== null || quote.markPrice !== null
    const intervalMs = quote.intervalMs ?? (needsInterval ? await fundingInterval(market) : null)
    const spotPrice = quote.indexPrice ?? (await spot)?.mid ?? null
    const basis = basisAnnualized(quote.markPrice, spotPrice, intervalMs)
    return {
      funding_annualized: fundingAnnualized(quote.fundingRate, intervalMs),
      basis_annualized: meanBasis(market, basis, intervalMs),
      open_interest_usd: openInterestUsd(interest, perpetual, quote.markPrice),
    }
  }

  return async ({ market, isSpot, perpetual }) => {
    const book = fetchValue('fetchOrderBook', `order book of ${market}`, () => fetchBook(market)).then(
      depthOf,
    )
    const spot = isSpot ? book : Promise.resolve(null)
    const carry = perpetual === null ? {} : await perpetualValues(perpetual, spot)
    const depth = await book
    return {
      ...NO_SIDE_VALUES,
      ...carry,
      bid_depth_usd: depth?.bidUsd ?? null,
      ask_depth_usd: depth?.askUsd ?? null,
    }
  }
}

const BOOK_LEVELS = 1000
const INTERVAL_AGE_MS_MAX = 4 * 3_600_000

export interface PerpetualQuote {
  /** Rate that longs pay to shorts at the next funding, as a part of the position. */
  readonly fundingRate: number | null
  readonly markPrice: number | null
  /** Mean spot price of several exchanges, from the same moment as the mark. */
  readonly indexPrice: number | null
  /** Time between two fundings, if the response states it. */
  readonly intervalMs: number | null
}

export const readPerpetualQuote = (response: unknown): PerpetualQuote => ({
  fundingRate: numberOf(memberOf(response, 'fundingRate')),
  markPrice: positiveOf(memberOf(response, 'markPrice')),
  indexPrice: positiveOf(memberOf(response, 'indexPrice')),
  intervalMs: hoursToMs(memberOf(response, 'interval')),
})

/** The time between the two newest funding payments. */
export const readFundingIntervalMs = (history: unknown): number | null => {
  const paid = (Array.isArray(history) ? (history as readonly unknown[]) : [])
    .flatMap((entry) => positiveOf(memberOf(entry, 'timestamp')) ?? [])
    .sort((left, right) => left - right)
  const [before, last] = paid.slice(-2)
  if (before === undefined || last === undefined) return null
  // Payments are stamped a few milliseconds after the hour.
  const intervalMs = Math.round((last - before) / HOUR_MS) * HOUR_MS
  return intervalMs > 0 ? intervalMs : null
}

/** Percent per year: rate · fundings per year · 100. */
export const fundingAnnualized = (rate: number | null, intervalMs: number | null): number | null =>
  rate === null || intervalMs === null ? null : r9((rate * YEAR_MS * 100) / intervalMs)

/**
 * Percent per year: (perpetual / spot - 1) · fundings per year · 100. A perpetual has no expiry over which its premium
 * decays; funding is made of the premium, once per interval, so both have the same scale.
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
 * Open interest in USD, as the exchange reports it, or amount · price where one contract is one unit. Null elsewhere,
 * because exchanges differ in whether they count contracts or units.
 */
export const openInterestUsd = (
  response: unknown,
  { contractSize }: Perpetual,
  price: number | null,
): number | null => {
  const valueUsd = numberOf(memberOf(response, 'openInterestValue'))
  if (valueUsd !== null) return valueUsd >= 0 ? cents(valueUsd) : null
  const amount = numberOf(memberOf(response, 'openInterestAmount'))
  if (amount === null || amount < 0 || price === null || contractSize !== 1) return null
  return cents(amount * price)
}

const YEAR_MS = 365 * 24 * HOUR_MS

/** `8h` */
const hoursToMs = (interval: unknown): number | null => {
  const [, hours] = /^(\d{1,3})h$/.exec(typeof interval === 'string' ? interval : '') ?? []
  return hours === undefined || Number(hours) === 0 ? null : Number(hours) * HOUR_MS
}

export interface Depth {
  readonly mid: number
  readonly bidUsd: number
  readonly askUsd: number
}

/**
 * Volume in the book within half a percent of its mid price, in USD. A lower bound where the exchange cuts its book off
 * earlier. Null for a book with an empty side.
 */
export const depthOf = (book: unknown): Depth | null => {
  const bids = levelsOf(memberOf(book, 'bids'))
  const asks = levelsOf(memberOf(book, 'asks'))
  if (bids.length === 0 || asks.length === 0) return null
  // Searches all entries: the library sorts prices that are text as text.
  const bestBid = bids.reduce((best, { price }) => Math.max(best, price), 0)
  const bestAsk = asks.reduce((best, { price }) => Math.min(best, price), Number.POSITIVE_INFINITY)
  const mid = (bestBid + bestAsk) / 2
  return {
    mid,
    bidUsd: sumUsd(bids.filter(({ price }) => price >= mid * (1 - DEPTH_BAND))),
    askUsd: sumUsd(asks.filter(({ price }) => price <= mid * (1 + DEPTH_BAND))),
  }
}

const DEPTH_BAND = 0.005

interface Level {
  readonly price: number
  readonly amount: number
}

const levelsOf = (side: unknown): readonly Level[] =>
  (Array.isArray(side) ? (side as readonly unknown[]) : []).flatMap((entry) => {
    const [price, amount] = (Array.isArray(entry) ? entry : []).map(positiveOf)
    return typeof price === 'number' && typeof amount === 'number' ? [{ price, amount }] : []
  })

const sumUsd = (levels: readonly Level[]): number =>
  cents(levels.reduce((sum, { price, amount }) => sum + price * amount, 0))

export const cents = (usd: number): number => Math.round(usd * 100) / 100

/** The mean of the values within a window, without keeping them. Null for an unknown value. */
export type RunningMean = (
  value: number | null,
  sample: { readonly atMs: number; readonly windowMs: number },
) => number | null

/** A plain mean while the window fills, then an exponential one. Restarts after a gap of a whole window. */
export const createRunningMean = (): RunningMean => {
  let mean = 0
  let count = 0
  let lastMs = 0
  return (value, { atMs, windowMs }) => {
    if (value === null) return null
    const passed = (atMs - lastMs) / windowMs
    count = passed >= 1 ? 1 : count + 1
    lastMs = atMs
    mean += (value - mean) * Math.max(1 / count, Math.min(1, passed))
    return mean
  }
}
