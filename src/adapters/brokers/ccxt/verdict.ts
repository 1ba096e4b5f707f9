import type { RequestOutcome } from '../../ccxt.ts'

export interface BrokerCredentials {
  readonly apiKey: string
  readonly secret: string
  /** Some exchanges require a passphrase too. */
  readonly password?: string
}

/**
 * Refused: the exchange has looked at it, has not done it and will not. Not sent: it never arrived, or was turned away
 * unread, and may be sent later. Unclear: it may have been done.
 */
export type Verdict = 'refused' | 'not_sent' | 'unclear'

/**
 * Whether a failed call may have been carried out. Only the exchange's own error counts as a refusal: a response of a
 * proxy is unclear, since it says nothing of what the exchange did.
 *
 * After a limit (429, 418) with a code of the exchange nothing was done: Binance documents all of 4xx as the sender's
 * fault and counts requests before it reads them. The same holds for its -1008, which it documents as a certain failure
 * although it comes with 503, and for a timestamp that it does not accept.
 */
export const verdictOf = (outcome: RequestOutcome, isRefusalToLibrary: boolean): Verdict => {
  if (outcome.status === 'not_sent' || isClockRefusal(outcome)) return 'not_sent'
  if (outcome.status === 'no_response') return 'unclear'
  const { httpStatus, code } = outcome
  if (code !== null && UNCLEAR_CODES.has(code)) return 'unclear'
  if (httpStatus >= 500) return code === OVERLOADED ? 'not_sent' : 'unclear'
  if (httpStatus === REQUEST_TIMEOUT) return 'unclear'
  if (httpStatus >= 400 && code !== null) return LIMITS.has(httpStatus) ? 'not_sent' : 'refused'
  if (LIMITS.has(httpStatus)) return 'unclear'
  return isRefusalToLibrary ? 'refused' : 'unclear'
}

export const isClockRefusal = (outcome: RequestOutcome): boolean =>
  outcome.status === 'response' && outcome.code !== null && CLOCK_CODES.has(outcome.code)

export const DUPLICATE = '-4116'
export const UNKNOWN_TO_CANCEL = '-2011'
export const NO_SUCH_ORDER = '-2013'

/** The exchange does not trade the symbol (any more). */
export const NOT_TRADED_CODES: ReadonlySet<string> = new Set(['-1121', '-4108', '-4140', '-4141'])

const REQUEST_TIMEOUT = 408
const LIMITS: ReadonlySet<number> = new Set([418, 429])
const OVERLOADED = '-1008'
const CLOCK_CODES: ReadonlySet<string> = new Set(['-1021', '-5028'])

/** Unknown error, disconnected, unexpected response, timeout; or the order already exists. */
const UNCLEAR_CODES: ReadonlySet<string> = new Set(['-1000', '-1001', '-1006', '-1007', DUPLICATE])

/** Why a call failed, in one line without secrets. */
export const reasonOf = (error: unknown, outcome: RequestOutcome, credentials: BrokerCredentials): string => {
  const message = error instanceof Error ? error.message : String(error)
  switch (outcome.status) {
    case 'not_sent':
      return redacted(`not sent: ${message}`, credentials)
    case 'no_response':
      return outcome.reason
    case 'response':
      if (outcome.httpStatus < 300) return redacted(`the response cannot be read: ${message}`, credentials)
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
