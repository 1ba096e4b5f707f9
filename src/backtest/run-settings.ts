import type { Configuration } from '../core/config/schema.ts'
import { canonicalSymbol } from '../core/shared/symbol.ts'

/** The operator's settings, with what a backtest needs: paper trading without approval and partial fills. */
export const runSettings = (given: Configuration, resolutionSeconds: number): Configuration => ({
  ...settingsForBars(given, resolutionSeconds),
  execution: { ...given.execution, mode: 'paper', require_approval: false, paper_partial_fills: false },
})

/** With recorded bars a price is as old as a bar, and no analysis is shorter than one. */
export const settingsForBars = (given: Configuration, resolutionSeconds: number): Configuration => ({
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
})

/** The operator's settings for one symbol, whose own data then decide the regime. */
export const settingsForSymbol = (given: Configuration, symbol: string): Configuration => ({
  ...given,
  universe: { ...given.universe, symbols: [canonicalSymbol(symbol)] },
  brain: { ...given.brain, regime_symbol: canonicalSymbol(symbol) },
})
