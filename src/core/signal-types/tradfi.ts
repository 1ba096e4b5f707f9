import { z } from 'zod'
import type { JsonObject } from '../shared/json.ts'
import { clamp } from '../shared/numbers.ts'
import {
  above,
  below,
  neutral,
  numberIn,
  optionalNumber,
  scale,
  settingsOf,
  symbol,
  weightedType,
  type MarketFacts,
} from './declare.ts'

const settingsOfTradfi = settingsOf('tradfi', {
  funding_neutral: neutral(10, 'funding in % per year that says nothing'),
  funding_scale: scale(30, 'deviation from neutral for full evidence'),
  basis_neutral: neutral(5, 'basis in % per year that says nothing'),
  basis_scale: scale(8, 'deviation from neutral for full evidence'),
  open_interest_scale: scale(20, 'open-interest change in % for full evidence'),
  momentum_scale: scale(5, '24 h price change in % that gives open interest its sign'),
  meltup_neutral: neutral(2, 'melt-up score that says nothing'),
  meltup_scale: scale(2, 'deviation from neutral for full evidence'),
})

/** Derivatives. Funding and basis are read as crowding: high is a risk for longs. */
export const tradfi = weightedType({
  name: 'tradfi',
  domain: 'tradfi',
  producer: { name: 'tradfi-basis', schedule: '*/30 * * * *' },
  payload: z.looseObject({
    symbol,
    basis_annualized: optionalNumber,
    funding_annualized: optionalNumber,
    oi_change_pct: optionalNumber,
    meltup_score: optionalNumber,
  }),
  settings: settingsOfTradfi,
  partsOf: (payload, settings, market) => ({
    funding: below(numberIn(payload, 'funding_annualized'), settings.funding_neutral, settings.funding_scale),
    basis: below(numberIn(payload, 'basis_annualized'), settings.basis_neutral, settings.basis_scale),
    openInterest: openInterestIn(payload, settings, market),
    meltup: above(numberIn(payload, 'meltup_score'), settings.meltup_neutral, settings.meltup_scale),
  }),
})

/** New open interest confirms the move of the last 24 hours. */
const openInterestIn = (
  payload: JsonObject,
  settings: z.infer<typeof settingsOfTradfi>,
  { return24hPct }: MarketFacts,
): number | null => {
  const change = numberIn(payload, 'oi_change_pct')
  if (change === null || return24hPct === null) return null
  return clamp(change / settings.open_interest_scale) * clamp(return24hPct / settings.momentum_scale)
}
