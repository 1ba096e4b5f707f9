import { parseTimestamp } from '../../shared/time.ts'

/** Null for an empty cell, NaN for one that is not a number. */
export const numberIn = (cell: string): number | null => {
  const text = cell.trim()
  if (EMPTY.has(text.toLowerCase())) return null
  return NUMBER.test(text) ? Number(text) : Number.NaN
}

/**
 * Milliseconds since 1970; null for text that is not a time. The size of a bare number tells whether it is in seconds,
 * milliseconds or microseconds.
 */
export const timeIn = (cell: string): number | null => {
  const text = cell.trim()
  if (NUMBER.test(text)) return millisecondsOf(Number(text))
  const ts = parseTimestamp(text)
  return ts === null ? null : Date.parse(ts)
}

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i

/** How spreadsheets and data frames write an empty cell. */
const EMPTY: ReadonlySet<string> = new Set(['', 'nan', 'null', 'none', 'n/a'])

/** Limits between units: the year 1973 in milliseconds, and 5138 in seconds. No file of bars reaches either. */
const SECONDS_MAX = 1e11
const MILLISECONDS_MAX = 1e14
const MICROSECONDS_MAX = 1e17

const millisecondsOf = (count: number): number | null => {
  if (count < 0 || count >= MICROSECONDS_MAX) return null
  const ms = count < SECONDS_MAX ? count * 1000 : count < MILLISECONDS_MAX ? count : count / 1000
  return Number.isInteger(ms) ? ms : null
}

/** The fields of one line; null when a quote is not closed. */
export const splitCsv = (line: string): readonly string[] | null => {
  if (!line.includes('"')) return line.split(',')
  const fields: string[] = []
  let place = 0
  for (;;) {
    const field = line.startsWith('"', skipBlanks(line, place))
      ? quotedField(line, skipBlanks(line, place))
      : plainField(line, place)
    if (field === null) return null
    fields.push(field.text)
    if (field.end >= line.length) return fields
    place = field.end + 1
  }
}

interface Field {
  readonly text: string
  /** Position of the next comma, or the length of the line. */
  readonly end: number
}

const plainField = (line: string, from: number): Field => {
  const end = commaAfter(line, from)
  return { text: line.slice(from, end), end }
}

/** A doubled quote is one quote. */
const quotedField = (line: string, from: number): Field | null => {
  let text = ''
  let place = from + 1
  for (;;) {
    const quote = line.indexOf('"', place)
    if (quote === -1) return null
    text += line.slice(place, quote)
    if (line[quote + 1] !== '"') {
      const end = commaAfter(line, quote)
      return line.slice(quote + 1, end).trim() === '' ? { text, end } : null
    }
    text += '"'
    place = quote + 2
  }
}

const commaAfter = (line: string, from: number): number => {
  const comma = line.indexOf(',', from)
  return comma === -1 ? line.length : comma
}

const skipBlanks = (line: string, from: number): number => {
  let place = from
  while (line[place] === ' ') place += 1
  return place
}

/** The columns of rows like this one; null when it is not a JSON object. */
export const jsonColumnsOf = (line: string, optional: readonly string[]): readonly string[] | null => {
  const row = objectIn(line)
  if (row === null) return null
  const names = Object.keys(row)
  // Optional columns may be missing in the first row only.
  return names.includes('symbol') ? [...new Set([...names, ...optional])] : names
}

/** The cells of a line, or its fault. */
export const jsonCellsOf =
  (columns: readonly string[]) =>
  (line: string): readonly string[] | string => {
    const row = objectIn(line)
    if (row === null) return 'not a JSON object'
    return columns.map((column) => cellOf(row[column]))
  }

const objectIn = (line: string): Readonly<Record<string, unknown>> | null => {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : null
  } catch {
    // The caller reports it as a bad row, with its line number.
    return null
  }
}

const cellOf = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : ''
