import { z } from 'zod'
import { branded, type Timestamp } from '../shared/brand.ts'

const price = z.number().gt(0)
const amount = z.number().min(0)

/** One bar of one symbol. Side values that the feed does not have are null. */
const bar = z.object({
  symbol: z.string(),
  resolution_s: z.int().gt(0),
  open_ts: branded<Timestamp>(),
  close_ts: branded<Timestamp>(),
  open: price,
  high: price,
  low: price,
  close: price,
  /** Traded volume, in units of the symbol and in USD. */
  volume: amount,
  quote_volume: amount,
  /** Funding and basis in percent per year. */
  funding_annualized: z.number().nullable(),
  basis_annualized: z.number().nullable(),
  open_interest_usd: amount.nullable(),
  /** Depth of the order book within half a percent of the price. */
  bid_depth_usd: amount.nullable(),
  ask_depth_usd: amount.nullable(),
  fear_greed: z.number().min(0).max(100).nullable(),
  feed: z.string(),
  /** True for a bar that arrived late and fills a gap. It feeds indicators and triggers no decision. */
  backfill: z.boolean(),
})

export const marketEvents = {
  'market.bar.v1': bar,
  /** A bar so far from the last one that the next bar has to confirm it. */
  'market.bar_held.v1': bar,
} as const
