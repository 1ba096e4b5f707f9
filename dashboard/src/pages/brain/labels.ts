import type { IntentStatus } from '../../api/types.ts'
import type { Tone } from '../../ui/badge.tsx'
import { formatWords } from '../../ui/format.ts'

/** In the order in which domains are always shown. */
export const DOMAINS = ['curator', 'onchain', 'tradfi', 'social', 'technical', 'events'] as const

/** Why no intent follows from a conviction. */
const HOLD_TEXTS: Readonly<Record<string, string>> = {
  neutral: 'evidence too weak for a direction',
  coverage: 'too few domains with usable signals',
  kill_switch: 'kill switch raised',
  regime_crisis: 'no entries in a crisis',
  hold: 'already held or ordered',
  below_threshold: 'conviction below the first tier',
}

/** Why an intent does not become a trade, or only a small one. */
const REJECTION_TEXTS: Readonly<Record<string, string>> = {
  dcg_symbol: 'symbol is on the do-not-trade list',
  expired: 'no longer valid',
  kill_switch: 'kill switch raised',
  approval_required: 'awaits approval',
  venue_unavailable: 'venue not available',
  venue_rejected: 'venue rejected it',
  no_price: 'no recent price',
  price_moved: 'price moved too far since the decision',
  duplicate_position: 'symbol already held',
  size_zero: 'size is zero after all limits',
  below_minimum: 'size after losses is below the smallest order; it grows again as they fade',
  probation_size: 'on probation: the floor size, since results so far allow less',
  position_limit: 'limit of one position',
  heat_limit: 'heat limit: loss at all stops',
  exposure_limit: 'exposure limit',
  stop_passed: 'price beyond the stop',
  target_passed: 'price beyond the target',
  margin_limit: 'not enough free margin',
  leverage_limit: 'leverage limit',
  daily_loss_limit: 'daily loss limit',
  drawdown_limit: 'drawdown limit',
  denied: 'denied by an operator',
}

export const holdText = (reason: string): string => HOLD_TEXTS[reason] ?? formatWords(reason)

export const rejectionText = (reason: string): string => REJECTION_TEXTS[reason] ?? formatWords(reason)

export const INTENT_TONES: Readonly<Record<IntentStatus, Tone>> = {
  awaiting_approval: 'warn',
  ready: 'accent',
  executing: 'accent',
  filled: 'good',
  rejected: 'bad',
  expired: 'neutral',
}

const ACTION_TONES: Readonly<Record<string, Tone>> = {
  long: 'good',
  short: 'bad',
  exit: 'warn',
  hold: 'accent',
}

export const toneOfAction = (action: string): Tone => ACTION_TONES[action] ?? 'neutral'

const ACTIONS: Readonly<Record<string, string>> = {
  none: 'no trade',
  long: 'buy',
  short: 'sell short',
  hold: 'hold',
  exit: 'exit',
}

export const actionText = (action: string): string => ACTIONS[action] ?? action
