/**
 * The milliseconds of a timestamp as `toISOString` writes it, or null for any other text.
 * Events come in the order of time: their day is mostly the one of the event before.
 */
export const millisOf = (text: string): number | null => {
  if (!TIMESTAMP.test(text)) return null
  if (!text.startsWith(day)) {
    const midnight = Date.parse(`${text.slice(0, DAY_LENGTH)}00:00:00.000Z`)
    // The parser takes the 31st of any month for a day of the next one.
    if (Number.isNaN(midnight) || !new Date(midnight).toISOString().startsWith(text.slice(0, DAY_LENGTH))) {
      return null
    }
    day = text.slice(0, DAY_LENGTH)
    dayMs = midnight
  }
  return dayMs + timeOfDayMs(text)
}

/** Empty for a number that is no date: only damage stores one, and verification reports the empty field. */
export const textOfMillis = (millis: number): string => {
  if (millis !== textMs) {
    const date = new Date(millis)
    text = Number.isNaN(date.getTime()) ? '' : date.toISOString()
    textMs = millis
  }
  return text
}

// Hours beyond 23 have no text: they are the next day.
const TIMESTAMP = /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/
const DAY_LENGTH = '2026-01-01T'.length

let day = '1970-01-01T'
let dayMs = 0
let text = '1970-01-01T00:00:00.000Z'
let textMs = 0

const timeOfDayMs = (timestamp: string): number =>
  ((twoDigits(timestamp, 11) * 60 + twoDigits(timestamp, 14)) * 60 + twoDigits(timestamp, 17)) * 1000 +
  digit(timestamp, 20) * 100 +
  twoDigits(timestamp, 21)

const twoDigits = (timestamp: string, at: number): number =>
  digit(timestamp, at) * 10 + digit(timestamp, at + 1)

const digit = (timestamp: string, at: number): number => timestamp.charCodeAt(at) - 48
