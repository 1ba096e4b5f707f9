import type { Configuration } from '../core/config/schema.ts'
import { canonicalSymbol } from '../core/shared/symbol.ts'

/** So many analysis bars are looked at before the first trade. */
export const WARM_UP_BARS = 200

/**
 * The settings of the operator, but for what a run through recorded time has to decide itself: it trades on paper,
 * in full and unasked, and its prices are as old as its bars are long.
 */
export const runSettings = (given: Configuration, resolutionSeconds: number): Configuration => ({
  ...given,
  market: {
    ...given.market,
    bar_seconds: resolutionSeconds,
    max_mark_age_seconds: Math.max(given.market.max_mark_age_seconds, 2 * resolutionSeconds),
  },
  ta: { ...given.ta, bar_seconds: Math.max(given.ta.bar_seconds, resolutionSeconds) },
  settlement: {
    ...given.settlement,
    grace_seconds: Math.max(given.settlement.grace_seconds, resolutionSeconds),
  },
  execution: { ...given.execution, mode: 'paper', require_approval: false, paper_partial_fills: false },
})

/** The operator's settings, for one symbol alone: then its own data decide the regime. */
export const onlyFor = (given: Configuration, symbol: string): Configuration => ({
  ...given,
  universe: { ...given.universe, symbols: [canonicalSymbol(symbol)] },
  brain: { ...given.brain, regime_symbol: canonicalSymbol(symbol) },
})
