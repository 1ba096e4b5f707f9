import { DatabaseError } from 'pg'
import { StoreUnavailableError } from '../../../ports/event-log.ts'

export class LogClosedError extends StoreUnavailableError {
  override readonly message = 'the log is closed'
}

/**
 * A refusal that answers the statement itself: the transaction is over and nothing of it was stored. The driver gives
 * the severity only in the language of the server (`FEHLER`, `ERREUR`), so the code decides. Codes with which a server
 * also ends connections do not count as refusals.
 */
export const isRefusedStatement = (error: unknown): error is DatabaseError =>
  error instanceof DatabaseError &&
  (error.severity === 'ERROR' || (!ENDS.has(error.severity ?? '') && !mayEndConnection(error.code ?? '')))

const ENDS: ReadonlySet<string> = new Set(['FATAL', 'PANIC', ''])

const mayEndConnection = (code: string): boolean =>
  code === '' || ['08', '25', '28', '53', '57', '58', 'XX'].some((code_class) => code.startsWith(code_class))

export const isUniqueViolation = (error: DatabaseError): boolean => error.code === '23505'

/** StoreUnavailableError for a failure that may pass. A plain Error for a refusal that will repeat, which is a bug. */
export const asStoreError = (error: unknown): Error => {
  if (error instanceof StoreUnavailableError) return error
  if (isRefusedStatement(error) && !isTransient(error.code ?? ''))
    return new Error(error.message, { cause: error })
  return unavailable('PostgreSQL did not answer', error)
}

export const unavailable = (what: string, cause: unknown): StoreUnavailableError =>
  new StoreUnavailableError(`${what}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })

// https://www.postgresql.org/docs/current/errcodes-appendix.html
const TRANSIENT_CLASSES = [
  '08', // connection exceptions
  '40', // a deadlock, a serialization failure
  '53', // disk full, out of memory, too many connections
  '55', // a lock was not available in time
  '57', // cancelled by a timeout or an operator, shutting down, starting up
  '58', // the system below the server failed
  'XX', // corrupted data, internal errors
] as const
// A server that became a standby accepts no writes until the address leads to the new primary.
const READ_ONLY_TRANSACTION = '25006'

const isTransient = (code: string): boolean =>
  code === READ_ONLY_TRANSACTION || TRANSIENT_CLASSES.some((code_class) => code.startsWith(code_class))
