/** The sections of the configuration that entries read. */
export interface EntryRules {
  readonly execution: {
    readonly mode: 'paper' | 'live'
    readonly confirmation_threshold_usd: number
    readonly dcg_symbols: readonly string[]
    readonly max_entry_drift_pct: number
    readonly min_notional_usd: number
    readonly max_positions_per_symbol: number
    readonly paper_partial_fills: boolean
    readonly paper_slippage_bps: number
    readonly paper_fee_bps: number
  }
  readonly risk: {
    readonly max_leverage: number
    readonly max_position_pct: number
    readonly max_portfolio_heat_pct: number
    readonly daily_loss_limit_pct: number
    readonly max_drawdown_pct: number
    readonly heat_open_fraction: number
    readonly kelly: {
      readonly p: number
      readonly b: number
      readonly prior: number
      readonly trades: number
      readonly days: number
      readonly fraction: number
    }
  }
  readonly kill_switch: { readonly l2_portfolio_heat_pct: number }
}
