import type { RequestOutcome } from '../../ccxt.ts'

export interface BrokerCredentials {
  readonly apiKey: string
  readonly secret: string
  /** Some exchanges require a passphrase too. */
  readonly password?: string
}

/**
 * Refused: the exchange has read the request, has not carried it out and will not.
 * Not sent: the request never arrived, or was rejected unread, and may be sent later.
 * Unclear: the request may have been carried out.
 */
export type FailureClass = 'refused' | 'not_sent' | 'unclear'

/** Error codes of a venue, by their meaning for the request. Every other code is a refusal. */
export interface ErrorCodes {
  /** The client order id is already used. */
  readonly duplicate: ReadonlySet<string>
  readonly noSuchOrder: ReadonlySet<string>
  /** There is no open order that could be canceled. */
  readonly nothingToCancel: ReadonlySet<string>
  /** The venue does not trade the symbol (any more). */
  readonly notTraded: ReadonlySet<string>
  /** The timestamp is refused, so nothing was done. */
  readonly clock: ReadonlySet<string>
  /** Too many requests: the request was rejected unread. */
  readonly limit: ReadonlySet<string>
  /** The venue itself does not know whether the request was carried out. */
  readonly unclear: ReadonlySet<string>
  /** A certain failure, although it comes as a server error. */
  readonly refusedAsServerError: ReadonlySet<string>
}

/**
 * Whether a failed call may have been carried out. Only the exchange's own error counts as a refusal. A proxy's
 * response is unclear, because it does not show what the exchange did.
 *
 * A limit with a code of the exchange means that nothing was done: exchanges count requests before they read them
 * (Binance documents all of 4xx as the sender's fault). The same holds for a timestamp that the exchange refuses.
 */
export const failureClassOf = (
  outcome: RequestOutcome,
  isRefusalToLibrary: boolean,
  codes: ErrorCodes,
): FailureClass => {
  if (outcome.status === 'not_sent' || isClockRefusal(outcome, codes)) return 'not_sent'
  if (outcome.status === 'no_response') return 'unclear'
  const { httpStatus, code } = outcome
  if (code !== null && (codes.unclear.has(code) || codes.duplicate.has(code))) return 'unclear'
  if (code !== null && codes.limit.has(code)) return 'not_sent'
  if (httpStatus >= 500) return code !== null && codes.refusedAsServerError.has(code) ? 'refused' : 'unclear'
  if (httpStatus === REQUEST_TIMEOUT) return 'unclear'
  if (code !== null) return LIMITS.has(httpStatus) ? 'not_sent' : 'refused'
  if (LIMITS.has(httpStatus)) return 'unclear'
  return isRefusalToLibrary ? 'refused' : 'unclear'
}

export const isClockRefusal = (outcome: RequestOutcome, codes: ErrorCodes): boolean =>
  outcome.status === 'response' && outcome.code !== null && codes.clock.has(outcome.code)

const REQUEST_TIMEOUT = 408
const LIMITS: ReadonlySet<number> = new Set([418, 429])

/** Result for a request that may or may not have been carried out. */
export const unclear = (reason: string): { readonly status: 'unclear'; readonly reason: string } => ({
  status: 'unclear',
  reason,
})

/** Reason for an order that is not sent because of its client order id. */
export const FOREIGN_ID = 'the exchange does not accept this client order id'

export const UNREADABLE = unclear('the response cannot be read')

/** Why a call failed, in one line without secrets. */
export const reasonOf = (error: unknown, outcome: RequestOutcome, credentials: BrokerCredentials): string => {
  const message = error instanceof Error ? error.message : String(error)
  switch (outcome.status) {
    case 'not_sent':
      return redacted(`not sent: ${message}`, credentials)
    case 'no_response':
      return outcome.reason
    case 'response':
      if (outcome.httpStatus < 300 && outcome.code === null)
        return redacted(`the response cannot be read: ${message}`, credentials)
      return redacted(`${outcome.code ?? `HTTP ${outcome.httpStatus}`} ${outcome.message}`, credentials)
  }
}

/** The library's messages contain whole addresses, with signatures. */
const redacted = (text: string, credentials: BrokerCredentials): string => {
  const { apiKey, secret, password = '' } = credentials
  const secrets = [apiKey, secret, password].filter((value) => value !== '')
  const line = secrets
    .reduce((shown, hidden) => shown.replaceAll(hidden, '[hidden]'), text)
    .replaceAll(/\?\S+/g, '?…')
    .replaceAll(/signature=\w+/g, 'signature=…')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return line.length > LENGTH_MAX ? `${line.slice(0, LENGTH_MAX)}…` : line
}

const LENGTH_MAX = 200
