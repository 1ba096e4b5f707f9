/** Every reason for which a command is refused. A code without a status does not compile (surfaces). */
export const REFUSAL_CODES = ['idempotency.conflict', 'kill_switch.active', 'kill_switch.not_lower'] as const

export type RefusalCode = (typeof REFUSAL_CODES)[number]
