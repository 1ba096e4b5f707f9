/** Shapes of the API about money and decisions. Members are described in docs/http.md and /openapi.json. */
export type Regime = 'BULL' | 'BEAR' | 'CRISIS' | 'TRANSITION'
export type Direction = 'long' | 'short' | 'neutral'
export type KillSwitchLevel = 0 | 1 | 2 | 3

export interface BrainStatus {
  readonly regime: Regime | null
  readonly regime_changed_at: string | null
  readonly kill_switch_level: KillSwitchLevel
  readonly kill_switch_reason: string | null
  readonly kill_switch_changed_at: string | null
  readonly last_cycle_id: string | null
  readonly last_cycle_at: string | null
}

export interface KillSwitch {
  readonly level: KillSwitchLevel
  readonly state: 'normal' | 'caution' | 'crisis' | 'lockdown'
  readonly reason: string | null
  readonly changed_at: string | null
  readonly changed_by: string | null
}

export interface RegimeView {
  readonly regime: Regime | null
  readonly changed_at: string | null
  readonly conditions: Readonly<Record<string, number | null>>
}

export interface Portfolio {
  readonly as_of: string
  readonly mode: 'paper' | 'live'
  readonly equity_usd: number
  readonly cash_usd: number
  readonly start_balance_usd: number
  readonly realized_pnl_usd: number
  readonly unrealized_pnl_usd: number
  readonly fees_usd: number
  readonly funding_usd: number
  readonly open_positions: number
  readonly exposure_usd: number
  readonly margin_usd: number
  readonly loss_at_stop_usd: number
  readonly heat: number
  readonly peak_equity_usd: number
  readonly drawdown: number
  readonly day_start_equity_usd: number
  readonly day_loss: number
  readonly loss_streak: number
  readonly limits: {
    readonly max_leverage: number
    readonly max_position_pct: number
    readonly max_portfolio_heat_pct: number
    readonly heat_open_fraction: number
    readonly daily_loss_limit_pct: number
    readonly max_drawdown_pct: number
    readonly l1_daily_loss_pct: number
    readonly l2_portfolio_heat_pct: number
    readonly l2_loss_streak: number
    readonly l3_max_drawdown_pct: number
  }
}

export interface EquityHistory {
  readonly as_of: string
  readonly points: readonly { readonly ts: string; readonly equity_usd: number }[]
}

export interface Position {
  readonly id: string
  readonly platform: string
  readonly asset: string
  readonly direction: 'long' | 'short'
  readonly entry_price: number
  readonly size_notional: number
  readonly quantity: number
  readonly fees_usd: number
  readonly leverage: number | null
  readonly margin_type: 'isolated' | 'cross' | null
  readonly stop_loss: number | null
  readonly take_profit: number | null
  readonly opened_at: string
  readonly closed_at: string | null
  readonly status: 'open' | 'monitoring' | 'degrading' | 'closing' | 'closed' | 'liquidated'
  readonly realized_pnl: number | null
  readonly exit_price: number | null
  readonly exit_reason: string | null
  readonly mark_price: number | null
  readonly unrealized_pnl: number | null
  readonly conviction_id: string | null
  readonly regime_at_entry: string | null
  readonly pcs_at_entry: number | null
  readonly cts_at_entry: number | null
}

export type IntentStatus = 'awaiting_approval' | 'ready' | 'executing' | 'filled' | 'rejected' | 'expired'

export interface Intent {
  readonly intent_id: string
  readonly symbol: string
  readonly direction: 'long' | 'short'
  readonly size_pct: number
  readonly leverage: number
  readonly conviction_score: number
  readonly regime: string
  readonly rationale: string
  readonly stop_loss_pct: number | null
  readonly take_profit_pct: number | null
  readonly valid_until: string
  readonly status: IntentStatus
  readonly reasons: readonly string[]
  readonly position_id: string | null
  readonly cycle_id: string
  readonly conviction_id: string
  readonly intended_price: number | null
  readonly approval_required: boolean
  readonly approved: boolean
  readonly order_id: string | null
}

export interface Order {
  readonly order_id: string
  readonly position_id: string
  readonly intent_id: string | null
  readonly venue: string
  readonly symbol: string
  readonly side: 'buy' | 'sell'
  readonly reduce_only: boolean
  readonly quantity: number
  readonly filled_quantity: number
  readonly fills: number
  readonly reference_price: number
  readonly submitted_at: string
  readonly valid_until: string | null
  readonly status:
    | 'submitting'
    | 'open'
    | 'partial'
    | 'unknown'
    | 'filled'
    | 'canceled'
    | 'rejected'
    | 'failed'
}

export interface CycleResult {
  readonly cycle_id: string
  readonly ts: string
  readonly intents: readonly Pick<Intent, 'intent_id' | 'symbol' | 'direction' | 'status' | 'reasons'>[]
  readonly regime: Regime | null
  readonly kill_switch_level: KillSwitchLevel
}

export interface ConvictionInput {
  readonly signal_id: string
  readonly author: string
  readonly domain: string
  /** Of its domain, among all authors. */
  readonly share: number
  /** 1 while fresh, then fading to 0. */
  readonly quality: number
  /** -1 to 1. */
  readonly evidence: number
  readonly contribution: number
}

export interface ExplainedConviction {
  readonly conviction_id: string
  readonly symbol: string
  readonly decision: {
    readonly action: string
    readonly reasons?: readonly string[]
    readonly [m: string]: unknown
  }
  readonly direction: Direction
  readonly pcs_score: number
  readonly cts_score: number
  readonly final_score: number
  readonly effective_conviction: number
  readonly confidence: number
  readonly coverage: number
  readonly value: number
  readonly domains: readonly {
    readonly domain: string
    readonly score: number
    readonly weight: number
    readonly contribution: number
  }[]
  readonly inputs: readonly ConvictionInput[]
  readonly next_tier: {
    readonly tier: number
    readonly value_needed: number | null
    readonly value_missing: number | null
  } | null
  readonly what_if: readonly {
    readonly change: 'without_author' | 'without_domain' | 'other_regime'
    readonly subject: string
    readonly value: number
    readonly direction: Direction
    readonly effective_conviction: number
    readonly action: string
    readonly changes_decision: boolean
  }[]
  readonly intent: {
    readonly intent_id: string
    readonly direction: 'long' | 'short'
    readonly size_pct: number
    readonly status: IntentStatus
    readonly reasons: readonly string[]
  } | null
}

export interface Explanation {
  readonly cycle_id: string
  readonly ts: string
  readonly trigger: string | null
  readonly regime: Regime | null
  readonly kill_switch_level: number | null
  readonly warnings: readonly string[]
  readonly rules_changed: boolean
  readonly convictions: readonly ExplainedConviction[]
}

/** By domain; the six add up to 1. */
export type Weights = Readonly<Record<string, number>>

export interface LearningRun {
  readonly id: string
  readonly at: string
  readonly trigger: string
  readonly reason: string
  readonly applied: boolean
  readonly step: number
  readonly observations: number
  readonly window_mean_return: number | null
  readonly correlations: Weights
  readonly previous_weights: Weights
  readonly new_weights: Weights
  readonly deltas: Weights
  readonly weights_version: number
}

export interface LearnedWeights {
  readonly weights: Weights
  readonly origin: 'configured' | 'learned'
  readonly version: number
  readonly learned_at: string | null
  readonly configured_weights: Weights
  readonly first_close_at: string | null
  readonly last_run_at: string | null
  readonly next_run_at: string
  /** Newest first. */
  readonly history: readonly LearningRun[]
}
