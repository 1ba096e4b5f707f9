import type { BrokerCredentials } from './exchange.ts'
import type { Outcome } from './verdict.ts'

/** Why a call failed, in one line that holds no secret. */
export const createReasons =
  (credentials: BrokerCredentials): ((error: unknown, outcome: Outcome) => string) =>
  (error, outcome) => {
    const message = error instanceof Error ? error.message : String(error)
    switch (outcome.status) {
      case 'not_sent':
        return cleaned(`not sent: ${message}`, credentials)
      case 'no_answer':
        return outcome.why
      case 'answered':
        if (outcome.httpStatus < 300) return cleaned(`the answer cannot be read: ${message}`, credentials)
        return cleaned(`${outcome.code ?? `HTTP ${outcome.httpStatus}`} ${outcome.message}`, credentials)
    }
  }

/** The library tells whole addresses, with what was signed. */
const cleaned = (text: string, credentials: BrokerCredentials): string => {
  const { apiKey, secret, password = '' } = credentials
  const words = [apiKey, secret, password].filter((word) => word !== '')
  const line = words
    .reduce((shown, word) => shown.replaceAll(word, '[hidden]'), text)
    .replaceAll(/\?\S+/g, '?…')
    .replaceAll(/signature=\w+/g, 'signature=…')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return line.length > LENGTH_MAX ? `${line.slice(0, LENGTH_MAX)}…` : line
}

const LENGTH_MAX = 200
