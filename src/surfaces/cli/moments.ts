import { InvalidArgumentError } from 'commander'

/** The first moment of what was written: a day begins at midnight UTC. */
export const parseFrom = (text: string): string => readMoment(text).first

/** The last moment of what was written: a day ends with its last millisecond. */
export const parseTo = (text: string): string => readMoment(text).last

interface Span {
  readonly first: string
  readonly last: string
}

const DAY = /^(\d{4})-(\d{2})-(\d{2})$/
const TIME =
  /^(\d{4})-(\d{2})-(\d{2})[Tt ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d+))?)?(Z|z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?$/

const ISO_LENGTH = '2026-02-20T00:00:00.000Z'.length

const readMoment = (text: string): Span => {
  const span = daySpan(text) ?? timeSpan(text)
  if (span === null) {
    throw new InvalidArgumentError(
      'It must be a date (2026-02-20) or a time (2026-02-20T14:30:00Z), UTC if no zone is named.',
    )
  }
  return span
}

const daySpan = (text: string): Span | null => {
  const [, year, month, day] = DAY.exec(text) ?? []
  if (!isDate(year, month, day)) return null
  return { first: `${text}T00:00:00.000Z`, last: `${text}T23:59:59.999Z` }
}

const timeSpan = (text: string): Span | null => {
  const [, year, month, day, hour, minute, second = '00', fraction = '', zone = 'Z'] = TIME.exec(text) ?? []
  if (!isDate(year, month, day)) return null
  const milliseconds = fraction.slice(0, 3).padEnd(3, '0')
  const offset = zone.toUpperCase().replace(/^([+-]\d\d):?(\d\d)$/, '$1:$2')
  const moment = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}.${milliseconds}${offset}`)
  const written = moment.toISOString()
  // A zone can carry the last hours of 9999 into a year that timestamps cannot hold.
  return written.length === ISO_LENGTH ? { first: written, last: written } : null
}

/** The calendar knows this day: 30 February would otherwise become a day in March. */
const isDate = (year: string | undefined, month: string | undefined, day: string | undefined): boolean => {
  if (year === undefined || month === undefined || day === undefined || Number(year) < 1970) return false
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  return date.toISOString().startsWith(`${year}-${month}-${day}`)
}
