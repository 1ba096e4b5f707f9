import type { Refusal, RefusalCode } from '../../core/shared/decision.ts'
import type { JsonObject } from '../../core/shared/json.ts'

export const EXIT_OK = 0
export const EXIT_FAILED = 1
export const EXIT_USAGE = 2

export type ExitCode = typeof EXIT_OK | typeof EXIT_FAILED | typeof EXIT_USAGE

/** Every way in which a command can fail, with the status of the same error in the API. */
export const FAILURE_STATUS = {
  'access_key.author_unknown': 404,
  'access_key.duplicate': 409,
  'access_key.expired': 400,
  'access_key.not_found': 404,
  'access_key.too_many': 409,
  'as_of.busy': 503,
  'as_of.out_of_range': 404,
  'auth.forbidden': 403,
  'backtest.no_bars': 422,
  'backup.damaged': 422,
  'backup.older': 409,
  'backup.other_log': 403,
  'backup.unavailable': 503,
  'checkpoint.not_found': 404,
  'config.invalid': 400,
  'config.not_saved': 503,
  'confirmation.stale': 409,
  'contributor.duplicate': 409,
  'contributor.key_protected': 403,
  'contributor.not_found': 404,
  'contributor.signature_expired': 403,
  'contributor.signature_invalid': 403,
  'contributor.signature_missing': 403,
  'data.not_found': 404,
  'data.refused': 422,
  'decision.not_found': 404,
  'event.not_found': 404,
  'file.exists': 409,
  'file.unreadable': 404,
  'idempotency.conflict': 409,
  'identity.already_admitted': 409,
  'identity.in_use': 409,
  'identity.invalid': 422,
  'identity.last_key': 409,
  'identity.not_admitted': 403,
  'identity.unavailable': 403,
  'integrity.nothing_lost': 409,
  'intent.not_awaiting': 409,
  'intent.not_found': 404,
  'internal.error': 500,
  'karma.settlement_rejected': 400,
  'karma.wallet_not_locked': 409,
  'kill_switch.active': 423,
  'kill_switch.not_lower': 409,
  'learning.disabled': 409,
  'live.not_ready': 409,
  'live.not_reduce_only': 409,
  'live.positions_open': 409,
  'order.not_found': 404,
  'order.not_open': 409,
  'position.not_found': 404,
  'position.not_open': 409,
  'price.unavailable': 409,
  'producer.duplicate': 409,
  'producer.not_found': 404,
  'producer.reserved': 403,
  'proof.unavailable': 503,
  'request.invalid': 422,
  'security.refused': 403,
  'service.not_started': 503,
  'signal.invalid_type': 400,
  'signal.source_reserved': 403,
  'signal.type_not_allowed': 403,
  'store.in_use': 409,
  'store.missing': 404,
  'store.not_empty': 409,
  'store.unavailable': 503,
  'strategy.failed': 422,
  'strategy.not_found': 404,
  'symbol.unknown': 404,
  'trace.session_closed': 409,
  'trace.session_full': 409,
  'trace.session_not_found': 404,
  'vault.not_found': 404,
  'vault.refused': 422,
  'vault.unavailable': 403,
} as const satisfies Readonly<Record<RefusalCode, number>> & Readonly<Record<string, number>>

export type FailureCode = keyof typeof FAILURE_STATUS

/** A command did not do what was asked, for a reason an operator can act on. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly code: FailureCode
  /** What to do next, as a sentence. */
  readonly advice: string | null
  readonly extras: JsonObject

  constructor(code: FailureCode, detail: string, more: { advice?: string; extras?: JsonObject } = {}) {
    super(detail)
    this.code = code
    this.advice = more.advice ?? null
    this.extras = more.extras ?? {}
  }
}

/** The command line itself makes no sense. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export const failureOf = ({ code, detail, extras }: Refusal): Failure => new Failure(code, detail, { extras })
