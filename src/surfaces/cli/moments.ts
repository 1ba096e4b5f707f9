import { InvalidArgumentError } from 'commander'
import { parseTimestamp } from '../../core/shared/time.ts'

/** The first moment of what was written: a day begins at midnight UTC. */
export const parseFrom = (text: string): string => {
  const moment = parseTimestamp(text)
  if (moment !== null) return moment
  throw new InvalidArgumentError(
    'It must be a date (2026-02-20) or a time (2026-02-20T14:30:00Z), UTC if no zone is named.',
  )
}

/** The last moment of what was written: a day ends with its last millisecond. */
export const parseTo = (text: string): string => {
  const moment = parseFrom(text)
  return DAY.test(text) ? `${text}T23:59:59.999Z` : moment
}

const DAY = /^\d{4}-\d{2}-\d{2}$/
