/** Every reason for which a command is refused. A code without a status does not compile (surfaces). */
export const REFUSAL_CODES = [
  'contributor.duplicate',
  'contributor.not_found',
  'idempotency.conflict',
  'intent.not_awaiting',
  'intent.not_found',
  'karma.settlement_rejected',
  'karma.wallet_not_locked',
  'kill_switch.active',
  'kill_switch.not_lower',
  'learning.disabled',
  'live.not_reduce_only',
  'live.positions_open',
  'order.not_found',
  'order.not_open',
  'position.not_found',
  'position.not_open',
  'price.unavailable',
  'producer.duplicate',
  'producer.not_found',
  'signal.invalid_type',
  'signal.type_not_allowed',
  'trace.session_closed',
  'trace.session_full',
  'trace.session_not_found',
] as const

export type RefusalCode = (typeof REFUSAL_CODES)[number]
