import type { JsonObject } from '../../shared/json.ts'
import { clamp } from '../../shared/numbers.ts'
import type { MarketFacts } from '../../market/readings.ts'
import { above, below, flowIn, numberIn, type Reader } from './reader.ts'

export interface TradfiRules {
  readonly tradfi: {
    readonly funding_neutral: number
    readonly funding_scale: number
    readonly basis_neutral: number
    readonly basis_scale: number
    readonly open_interest_scale: number
    readonly momentum_scale: number
    readonly meltup_neutral: number
    readonly meltup_scale: number
  }
  readonly etf: {
    readonly flow_volume_share: number
    readonly streak_scale: number
    readonly cumulative_volume_share: number
  }
}

/** Funding and basis are read as crowding: high is a risk for longs. */
export const derivatives: Reader<TradfiRules> = {
  domain: 'tradfi',
  partsOf: (payload, { tradfi }, market) => ({
    funding: below(numberIn(payload, 'funding_annualized'), tradfi.funding_neutral, tradfi.funding_scale),
    basis: below(numberIn(payload, 'basis_annualized'), tradfi.basis_neutral, tradfi.basis_scale),
    openInterest: openInterestIn(payload, tradfi, market),
    meltup: above(numberIn(payload, 'meltup_score'), tradfi.meltup_neutral, tradfi.meltup_scale),
  }),
}

export const fundFlows: Reader<TradfiRules> = {
  domain: 'tradfi',
  partsOf: (payload, { etf }, market) => ({
    day: flowIn(payload, 'daily_flow_usd', etf.flow_volume_share, market),
    streak: above(numberIn(payload, 'streak_days'), 0, etf.streak_scale),
    week: flowIn(payload, 'cumulative_7d', etf.cumulative_volume_share, market),
  }),
}

/** New money confirms the move it came with. */
const openInterestIn = (
  payload: JsonObject,
  rules: TradfiRules['tradfi'],
  { return24hPct }: MarketFacts,
): number | null => {
  const change = numberIn(payload, 'oi_change_pct')
  if (change === null || return24hPct === null) return null
  return clamp(change / rules.open_interest_scale) * clamp(return24hPct / rules.momentum_scale)
}
