/** What became of the last request of a call. */
export type Outcome =
  /** It never left this machine, or never reached another. */
  | { readonly status: 'not_sent' }
  /** It may have arrived. */
  | { readonly status: 'no_answer'; readonly why: string }
  | {
      readonly status: 'answered'
      readonly httpStatus: number
      /** As the venue numbers its refusals; null where it told none. */
      readonly code: string | null
      readonly message: string
    }

/** Refused: the venue has not done it and will not. Unclear: nobody knows. */
export type Verdict = 'refused' | 'unclear'

/**
 * Whether a call that failed may have been carried out. Only a venue's own "no" is one: whatever a proxy or a page of
 * HTML says is unclear, since it says nothing of what the venue did.
 *
 * Limits (429, 418) with a code of the venue are refusals: Binance documents all of 4xx as the sender's fault and counts
 * requests before it looks at them. So is its -1008, which it documents as a certain failure although it comes with 503.
 */
export const verdictOf = (outcome: Outcome, isRefusalToLibrary: boolean): Verdict => {
  if (outcome.status === 'not_sent') return 'refused'
  if (outcome.status === 'no_answer') return 'unclear'
  const { httpStatus, code } = outcome
  if (code !== null && UNCLEAR_CODES.has(code)) return 'unclear'
  if (httpStatus >= 500) return code === OVERLOADED ? 'refused' : 'unclear'
  if (httpStatus === REQUEST_TIMEOUT) return 'unclear'
  if (httpStatus >= 400 && code !== null) return 'refused'
  if (LIMITS.has(httpStatus)) return 'unclear'
  return isRefusalToLibrary ? 'refused' : 'unclear'
}

export const isClockRefusal = (outcome: Outcome): boolean =>
  outcome.status === 'answered' && outcome.code !== null && CLOCK_CODES.has(outcome.code)

export const DUPLICATE = '-4116'
export const UNKNOWN_TO_CANCEL = '-2011'
export const NO_SUCH_ORDER = '-2013'

/** The venue does not trade it (any more). */
export const NOT_TRADED_CODES: ReadonlySet<string> = new Set(['-1121', '-4108', '-4140', '-4141'])

const REQUEST_TIMEOUT = 408
const LIMITS: ReadonlySet<number> = new Set([418, 429])
const OVERLOADED = '-1008'
const CLOCK_CODES: ReadonlySet<string> = new Set(['-1021', '-5028'])

/** The venue itself does not know: unknown error, disconnected, unexpected answer, timeout; or the order is there. */
const UNCLEAR_CODES: ReadonlySet<string> = new Set(['-1000', '-1001', '-1006', '-1007', DUPLICATE])
