import type { Refusal } from '../../core/shared/decision.ts'
import type { JsonObject } from '../../core/shared/json.ts'
import { PROBLEM_KINDS, type ProblemCode, type TITLES } from '../problem-codes.ts'

export const EXIT_OK = 0
export const EXIT_FAILED = 1
export const EXIT_USAGE = 2

export type ExitCode = typeof EXIT_OK | typeof EXIT_FAILED | typeof EXIT_USAGE

/** Failures that only commands have. All others are those of the API, with the same status. */
const OWN_STATUS = {
  'backtest.no_bars': 422,
  'backup.damaged': 422,
  'backup.older': 409,
  'backup.other_log': 403,
  'backup.unavailable': 503,
  'data.not_found': 404,
  'data.refused': 422,
  'file.exists': 409,
  'file.unreadable': 404,
  'identity.in_use': 409,
  'identity.unavailable': 403,
  'integrity.broken': 409,
  'integrity.nothing_lost': 409,
  'live.not_ready': 409,
  'security.refused': 403,
  'service.not_started': 503,
  'store.in_use': 409,
  'store.missing': 404,
  'store.not_empty': 409,
  'strategy.failed': 422,
  'strategy.not_found': 404,
  'symbol.unknown': 404,
  'vault.not_found': 404,
  'vault.refused': 422,
  'vault.unavailable': 403,
} as const satisfies Readonly<Record<string, keyof typeof TITLES>>

type OwnCode = keyof typeof OWN_STATUS

export type FailureCode = OwnCode | ProblemCode

export const statusOf = (code: FailureCode): keyof typeof TITLES =>
  isOwn(code) ? OWN_STATUS[code] : PROBLEM_KINDS[code][0]

export const isFailureCode = (code: string): code is FailureCode =>
  isOwn(code) || Object.hasOwn(PROBLEM_KINDS, code)

const isOwn = (code: string): code is OwnCode => Object.hasOwn(OWN_STATUS, code)

/** A command failed for a reason that an operator can act on. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly code: FailureCode
  /** Next step for the user, as a sentence. */
  readonly advice: string | null
  readonly extras: JsonObject

  constructor(code: FailureCode, detail: string, more: { advice?: string; extras?: JsonObject } = {}) {
    super(detail)
    this.code = code
    this.advice = more.advice ?? null
    this.extras = more.extras ?? {}
  }
}

/** The command line itself is invalid. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export const failureOf = ({ code, detail, extras }: Refusal): Failure => new Failure(code, detail, { extras })

/** Message of an error, as its reporter wrote it. */
export const messageOf = (error: unknown): string => {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ')
  return error instanceof Error ? error.message : String(error)
}

export const cannotRead = (what: string, error: unknown): Failure =>
  new Failure('file.unreadable', `cannot read ${what}: ${messageOf(error)}`)

export const cannotWrite = (path: string, error: unknown): Failure =>
  new Failure('file.unreadable', `cannot write ${path}: ${messageOf(error)}`)
