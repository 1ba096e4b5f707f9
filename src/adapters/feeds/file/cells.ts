import { parseTimestamp } from '../../../core/shared/time.ts'

/** Null for an empty cell, NaN for one that holds no number. */
export const numberIn = (cell: string): number | null => {
  const text = cell.trim()
  if (EMPTY.has(text.toLowerCase())) return null
  return NUMBER.test(text) ? Number(text) : Number.NaN
}

/** Milliseconds since 1970; null for what is no moment. A bare number is seconds, milli- or microseconds by its size. */
export const momentIn = (cell: string): number | null => {
  const text = cell.trim()
  if (NUMBER.test(text)) return millisecondsOf(Number(text))
  const ts = parseTimestamp(text)
  return ts === null ? null : Date.parse(ts)
}

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i

/** How spreadsheets and data frames write nothing. */
const EMPTY: ReadonlySet<string> = new Set(['', 'nan', 'null', 'none', 'n/a'])

/** In the year 1973 as milliseconds, in 5138 as seconds; no file of bars is from either. */
const SECONDS_MAX = 1e11
const MILLISECONDS_MAX = 1e14
const MICROSECONDS_MAX = 1e17

const millisecondsOf = (count: number): number | null => {
  if (count < 0 || count >= MICROSECONDS_MAX) return null
  const ms = count < SECONDS_MAX ? count * 1000 : count < MILLISECONDS_MAX ? count : count / 1000
  return Number.isInteger(ms) ? ms : null
}
