import type { FeedBar } from './bar.ts'

/** A minute with an unchanged price. Tests pass their differences. */
export const barAt = (openTs: string, close = 100, changes: Partial<FeedBar> = {}): FeedBar => {
  const resolution_s = changes.resolution_s ?? 60
  return {
    symbol: 'BTC',
    resolution_s,
    open_ts: openTs,
    close_ts: new Date(Date.parse(openTs) + resolution_s * 1000).toISOString(),
    open: close,
    high: close,
    low: close,
    close,
    volume: 1,
    quote_volume: close,
    funding_annualized: null,
    basis_annualized: null,
    open_interest_usd: null,
    bid_depth_usd: null,
    ask_depth_usd: null,
    fear_greed: null,
    backfill: false,
    ...changes,
  }
}

/** Consecutive bars. */
export const barsFrom = (
  firstTs: string,
  closes: readonly number[],
  changes: Partial<FeedBar> = {},
): readonly FeedBar[] =>
  closes.map((close, index) =>
    barAt(
      new Date(Date.parse(firstTs) + index * (changes.resolution_s ?? 60) * 1000).toISOString(),
      close,
      changes,
    ),
  )
