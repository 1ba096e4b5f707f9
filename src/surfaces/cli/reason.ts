import { InvalidArgumentError } from 'commander'

const REASON_LENGTH_MAX = 500

/** Why something is done, for the log. */
export const parseReason = (text: string): string => {
  const reason = text.trim()
  if (reason.length >= 1 && reason.length <= REASON_LENGTH_MAX && reason.isWellFormed()) return reason
  throw new InvalidArgumentError(`It must have 1 to ${REASON_LENGTH_MAX} characters.`)
}
