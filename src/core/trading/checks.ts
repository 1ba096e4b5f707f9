import { usdFrom } from '../shared/money.ts'
import { r9 } from '../shared/numbers.ts'
import { canonicalSymbol } from '../shared/symbol.ts'
import type { Intent } from './intents.ts'
import type { EntryFacts, OrderPlan } from './plan.ts'

export type CheckReason =
  | 'dcg_symbol'
  | 'expired'
  | 'kill_switch'
  | 'approval_required'
  | 'venue_unavailable'
  | 'paper_period'
  | 'no_price'
  | 'price_moved'
  | 'duplicate_position'
  | 'size_zero'
  | 'position_limit'
  | 'heat_limit'
  | 'exposure_limit'
  | 'margin_limit'
  | 'leverage_limit'
  | 'daily_loss_limit'
  | 'drawdown_limit'

/** Every check is made, whatever the others say. */
export const failedReasons = (
  { intent, isApproved }: Intent,
  plan: OrderPlan | null,
  facts: EntryFacts,
): readonly CheckReason[] => {
  const { now, level, account, rules, mark } = facts
  const { execution, risk } = rules
  const { destination } = facts
  const isLive = destination.kind === 'venue'
  const isLarge = plan === null || plan.notional >= usdFrom(execution.confirmation_threshold_usd)
  const isMoved =
    mark !== null &&
    intent.intended_price !== null &&
    r9(Math.abs(mark.price / intent.intended_price - 1)) > execution.max_entry_drift_pct
  const fails: Readonly<Record<CheckReason, boolean>> = {
    dcg_symbol: isListed(intent.symbol, execution.dcg_symbols),
    expired: now > intent.valid_until,
    kill_switch: level >= 2,
    approval_required: isLive && isLarge && !isApproved,
    venue_unavailable: !destination.isAvailable,
    paper_period: isLive && !destination.isPaperPeriodOver,
    no_price: mark === null,
    price_moved: isMoved,
    duplicate_position: facts.heldInSymbol >= execution.max_positions_per_symbol,
    size_zero: plan !== null && plan.quantity === 0n,
    position_limit: bounds(plan, 'position', execution.min_notional_usd),
    heat_limit: bounds(plan, 'heat', execution.min_notional_usd),
    exposure_limit: bounds(plan, 'exposure', execution.min_notional_usd),
    margin_limit: bounds(plan, 'margin', execution.min_notional_usd),
    leverage_limit: intent.leverage > risk.max_leverage,
    daily_loss_limit: risk.daily_loss_limit_pct > 0 && account.dayLoss >= risk.daily_loss_limit_pct,
    drawdown_limit: account.drawdown >= risk.max_drawdown_pct,
  }
  return (Object.keys(fails) as readonly CheckReason[]).filter((reason) => fails[reason])
}

/** A limit that leaves too little is named beside the size. */
const bounds = (plan: OrderPlan | null, limit: keyof OrderPlan['limits'], smallestUsd: number): boolean =>
  plan !== null && plan.quantity === 0n && plan.limits[limit] <= usdFrom(smallestUsd)

/** Whatever the spelling. */
export const isListed = (symbol: string, listed: readonly string[]): boolean =>
  listed.some((name) => canonicalSymbol(name) === canonicalSymbol(symbol))
