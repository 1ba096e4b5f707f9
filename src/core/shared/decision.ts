import type { NewEvent } from '../events/catalogue.ts'
import { echoed } from './echo.ts'
import type { JsonObject } from './json.ts'

/** A refusal is a value: a stable code for machines, a line for people, and data that the answer repeats. */
export interface Refusal {
  readonly code: RefusalCode
  readonly detail: string
  readonly extras: JsonObject
}

export type Decision =
  | { readonly status: 'accepted'; readonly events: readonly NewEvent[] }
  | { readonly status: 'refused'; readonly refusal: Refusal }

export const accept = (...events: readonly NewEvent[]): Decision =>
  events.length === 0 ? NOTHING : { status: 'accepted', events }

const NOTHING: Decision = { status: 'accepted', events: [] }

export const refuse = (code: RefusalCode, detail: string, extras: JsonObject = {}): Decision => ({
  status: 'refused',
  // Details may repeat ids that a client sent. Text of the engine is shorter than the limit.
  refusal: { code, detail: echoed(detail), extras },
})

/** Every reason for which a command is refused. A code without a status does not compile (surfaces). */
export const REFUSAL_CODES = [
  'access_key.author_unknown',
  'access_key.duplicate',
  'access_key.expired',
  'access_key.not_found',
  'access_key.too_many',
  'auth.forbidden',
  'auth.not_owner',
  'confirmation.stale',
  'contributor.duplicate',
  'contributor.key_protected',
  'contributor.not_found',
  'contributor.signature_expired',
  'contributor.signature_invalid',
  'contributor.signature_missing',
  'idempotency.conflict',
  'identity.already_admitted',
  'identity.invalid',
  'identity.last_key',
  'identity.not_admitted',
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
  'producer.reserved',
  'signal.invalid_type',
  'signal.source_reserved',
  'signal.type_not_allowed',
  'trace.session_closed',
  'trace.session_full',
  'trace.session_not_found',
] as const

export type RefusalCode = (typeof REFUSAL_CODES)[number]
