import { CommanderError } from 'commander'
import { redactText, redactValue } from '../../core/operations/redaction.ts'
import type { JsonObject } from '../../core/shared/json.ts'
import {
  EXIT_FAILED,
  EXIT_USAGE,
  Failure,
  FAILURE_STATUS,
  UsageError,
  type ExitCode,
  type FailureCode,
} from './failure.ts'
import { documentText } from './output.ts'

/** What went wrong, ready to be told in either form. */
export interface Problem {
  readonly exitCode: ExitCode
  readonly code: FailureCode
  readonly detail: string
  readonly advice: string | null
  readonly extras: JsonObject
}

export const problemOf = (error: unknown): Problem => {
  if (error instanceof CommanderError) return usage(withoutPrefix(error.message))
  if (error instanceof UsageError) return usage(error.message)
  if (error instanceof Failure) {
    const { code, message, advice, extras } = error
    return { exitCode: EXIT_FAILED, code, detail: message, advice, extras }
  }
  const code = (error instanceof Error ? CODES_BY_NAME[error.name] : undefined) ?? 'internal.error'
  return { exitCode: EXIT_FAILED, code, detail: messageOf(error), advice: null, extras: {} }
}

/** Errors of adapters, which a surface knows by name only. */
const CODES_BY_NAME: Readonly<Record<string, FailureCode>> = {
  ConfigurationFileError: 'config.not_saved',
  IdentityUnreadableError: 'identity.unavailable',
  SecurityError: 'security.refused',
  StoreUnavailableError: 'store.unavailable',
  VaultEntryError: 'vault.refused',
  VaultUnreadableError: 'vault.unavailable',
}

/** For people: the trouble on one line, then what to do. */
export const problemText = ({ detail, advice }: Problem, knownSecrets: readonly string[]): string =>
  redactText(`error: ${detail}\n${advice === null ? '' : `${advice}\n`}`, knownSecrets)

/** For programs: the shape that every error of the service has. */
export const problemDocument = (
  { code, detail, advice, extras }: Problem,
  requestId: string,
  knownSecrets: readonly string[],
): string => {
  const status = FAILURE_STATUS[code]
  const document = {
    status,
    title: TITLES[status],
    code,
    detail,
    ...(advice === null ? {} : { advice }),
    ...extras,
    request_id: requestId,
  }
  return documentText(redactValue(document, knownSecrets))
}

const TITLES: Readonly<Record<(typeof FAILURE_STATUS)[FailureCode], string>> = {
  400: 'Bad Request',
  403: 'Forbidden',
  404: 'Not Found',
  409: 'Conflict',
  422: 'Unprocessable Content',
  423: 'Locked',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
}

const usage = (detail: string): Problem => ({
  exitCode: EXIT_USAGE,
  code: 'request.invalid',
  detail,
  advice: null,
  extras: {},
})

const withoutPrefix = (message: string): string =>
  message
    .replace(/^error: /, '')
    .replaceAll('\n', ' ')
    .trim()

const messageOf = (error: unknown): string => {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ')
  return error instanceof Error ? error.message : String(error)
}
