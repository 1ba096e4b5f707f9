import { r9 } from '../../../core/shared/numbers.ts'
import type { Timer } from '../../../ports/timer.ts'
import {
  basisAnnualized,
  fundingAnnualized,
  openInterestUsd,
  readFundingIntervalMs,
  readPerpetualQuote,
  type PerpetualQuote,
} from './carry.ts'
import { depthOf, type Depth } from './depth.ts'
import { canFetch, type Exchange } from './exchange.ts'
import type { Line } from './line.ts'
import type { Perpetual, Watched } from './markets.ts'
import { createRunningMean, type RunningMean } from './running-mean.ts'
import type { ErrorReports } from './errors.ts'
import { messageOf } from './values.ts'

/** What stands beside the price. Null for what the venue does not have or did not tell. */
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
  readonly line: Line
  readonly timer: Timer
  readonly troubles: ErrorReports
  readonly isRefusal: (error: unknown) => boolean
}

/** Asks once for each value: a bar does not wait for what only stands beside it. Never rejects. */
export const createSideValues = (
  parts: SideValueDependencies,
): ((watched: Watched) => Promise<SideValues>) => {
  const { exchange, line, timer, troubles, isRefusal } = parts
  const intervals = new Map<string, { readonly ms: number | null; readonly readMs: number }>()
  const basisMeans = new Map<string, RunningMean>()
  let bookLimit: number | undefined = BOOK_LEVELS

  const attempt = async <T>(what: string, call: () => Promise<T>): Promise<T | null> => {
    try {
      const value = await line.ask(call)
      troubles.clear(what)
      return value
    } catch (error) {
      troubles.mention(what, `bars come without ${what}: ${messageOf(error)}`)
      return null
    }
  }

  const bookOf = async (market: string): Promise<unknown> => {
    try {
      return await exchange.fetchOrderBook(market, bookLimit)
    } catch (error) {
      if (bookLimit === undefined || !isRefusal(error)) throw error
      // Not every venue cuts its book at any length; all have one of their own.
      bookLimit = undefined
      return exchange.fetchOrderBook(market)
    }
  }

  const depth = async (market: string): Promise<Depth | null> => {
    if (!canFetch(exchange, 'fetchOrderBook')) return null
    return depthOf(await attempt(`the book of ${market}`, () => bookOf(market)))
  }

  const quote = async (market: string): Promise<PerpetualQuote> => {
    if (!canFetch(exchange, 'fetchFundingRate')) return readPerpetualQuote(null)
    return readPerpetualQuote(
      await attempt(`the funding of ${market}`, () => exchange.fetchFundingRate(market)),
    )
  }

  const openInterest = async (market: string): Promise<unknown> => {
    if (!canFetch(exchange, 'fetchOpenInterest')) return null
    return attempt(`the open interest of ${market}`, () => exchange.fetchOpenInterest(market))
  }

  /** Read from the past and kept for hours: venues change it rarely. */
  const fundingInterval = async (market: string): Promise<number | null> => {
    const known = intervals.get(market)
    if (known !== undefined && timer.now() - known.readMs < INTERVAL_AGE_MS_MAX) return known.ms
    if (!canFetch(exchange, 'fetchFundingRateHistory')) return null
    const history = await attempt(`the funding interval of ${market}`, () =>
      exchange.fetchFundingRateHistory(market, undefined, 2),
    )
    const ms = readFundingIntervalMs(history)
    if (history !== null) intervals.set(market, { ms, readMs: timer.now() })
    return ms ?? known?.ms ?? null
  }

  /** Of one moment the premium is mostly noise: funding is made of its mean over an interval, and so is this. */
  const meanBasis = (market: string, basis: number | null, windowMs: number | null): number | null => {
    if (windowMs === null) return null
    const mean = basisMeans.get(market) ?? createRunningMean()
    basisMeans.set(market, mean)
    const shown = mean(basis, { atMs: timer.now(), windowMs })
    return shown === null ? null : r9(shown)
  }

  const perpetualValues = async (perpetual: Perpetual, spot: Promise<Depth | null>) => {
    const [told, interest] = await Promise.all([quote(perpetual.market), openInterest(perpetual.market)])
    const isOfUse = told.fundingRate !== null || told.markPrice !== null
    const intervalMs = told.intervalMs ?? (isOfUse ? await fundingInterval(perpetual.market) : null)
    const spotPrice = told.indexPrice ?? (await spot)?.mid ?? null
    const basis = basisAnnualized(told.markPrice, spotPrice, intervalMs)
    return {
      funding_annualized: fundingAnnualized(told.fundingRate, intervalMs),
      basis_annualized: meanBasis(perpetual.market, basis, intervalMs),
      open_interest_usd: openInterestUsd(interest, perpetual, told.markPrice),
    }
  }

  return async ({ market, isSpot, perpetual }) => {
    const book = depth(market)
    const spot = isSpot ? book : Promise.resolve(null)
    const carry = perpetual === null ? NO_SIDE_VALUES : await perpetualValues(perpetual, spot)
    const shown = await book
    return {
      funding_annualized: carry.funding_annualized,
      basis_annualized: carry.basis_annualized,
      open_interest_usd: carry.open_interest_usd,
      bid_depth_usd: shown?.bidUsd ?? null,
      ask_depth_usd: shown?.askUsd ?? null,
    }
  }
}

const BOOK_LEVELS = 1000
const INTERVAL_AGE_MS_MAX = 4 * 3_600_000
