import type { FeedBar } from '../../../core/market/bar.ts'
import { numberIn } from './cells.ts'

/** A bar of which the file does not say how long it is. */
export type FileBar = Omit<FeedBar, 'resolution_s' | 'open_ts' | 'close_ts' | 'backfill'>

export const BAR_MEMBERS = ['open', 'high', 'low', 'close', 'volume'] as const
export const SIDE_MEMBERS = [
  'quote_volume',
  'funding_annualized',
  'basis_annualized',
  'open_interest_usd',
  'bid_depth_usd',
  'ask_depth_usd',
  'fear_greed',
] as const

export type BarMember = (typeof BAR_MEMBERS)[number] | (typeof SIDE_MEMBERS)[number]

export type ReadBar =
  | { readonly status: 'bar'; readonly bar: FileBar }
  | { readonly status: 'none' }
  | { readonly status: 'bad'; readonly reason: string }

/** The bar of one symbol in one row. A row may be without it, but not without a part of it. */
export const barFrom = (symbol: string, cellOf: (member: BarMember) => string): ReadBar => {
  const open = numberIn(cellOf('open'))
  const high = numberIn(cellOf('high'))
  const low = numberIn(cellOf('low'))
  const close = numberIn(cellOf('close'))
  const volume = numberIn(cellOf('volume'))
  if (open === null && high === null && low === null && close === null) return { status: 'none' }
  if (!isPrice(open) || !isPrice(high) || !isPrice(low) || !isPrice(close)) {
    return bad(symbol, 'open, high, low and close must be numbers above 0')
  }
  if (low > Math.min(open, close) || high < Math.max(open, close)) {
    return bad(symbol, 'open and close must lie between low and high')
  }
  if (!isAmount(volume)) return bad(symbol, 'volume must be a number of 0 or more')
  const bar: FileBar = {
    symbol,
    open,
    high,
    low,
    close,
    volume,
    quote_volume: numberIn(cellOf('quote_volume')) ?? usdOf(volume * close),
    funding_annualized: numberIn(cellOf('funding_annualized')),
    basis_annualized: numberIn(cellOf('basis_annualized')),
    open_interest_usd: numberIn(cellOf('open_interest_usd')),
    bid_depth_usd: numberIn(cellOf('bid_depth_usd')),
    ask_depth_usd: numberIn(cellOf('ask_depth_usd')),
    fear_greed: numberIn(cellOf('fear_greed')),
  }
  const impossible = SIDE_MEMBERS.find((member) => !isPossible(bar[member], SIDE_RANGES[member]))
  return impossible === undefined ? { status: 'bar', bar } : bad(symbol, `${impossible} is no possible value`)
}

const bad = (symbol: string, reason: string): ReadBar => ({ status: 'bad', reason: `${symbol}: ${reason}` })

const isPrice = (value: number | null | undefined): value is number =>
  typeof value === 'number' && value > 0 && Number.isFinite(value)

const isAmount = (value: number | null | undefined): value is number =>
  typeof value === 'number' && value >= 0 && Number.isFinite(value)

const usdOf = (amount: number): number => Math.round(amount * 100) / 100

const ANYTHING = [-Number.MAX_VALUE, Number.MAX_VALUE] as const
const AMOUNT = [0, Number.MAX_VALUE] as const

const SIDE_RANGES: Readonly<Record<(typeof SIDE_MEMBERS)[number], readonly [number, number]>> = {
  quote_volume: AMOUNT,
  funding_annualized: ANYTHING,
  basis_annualized: ANYTHING,
  open_interest_usd: AMOUNT,
  bid_depth_usd: AMOUNT,
  ask_depth_usd: AMOUNT,
  fear_greed: [0, 100],
}

const isPossible = (value: number | null, [min, max]: readonly [number, number]): boolean =>
  value === null || (value >= min && value <= max)
