import { timestampOf, type Timestamp } from './brand.ts'
import { z } from 'zod'

/** The UTC day of a timestamp in the wire's form. */
export const dayOf = (ts: Timestamp): string => ts.slice(0, 10)

export const HOUR_MS = 3_600_000
export const DAY_MS = 86_400_000

/**
 * Milliseconds since 1970 as a timestamp. The last result is cached, because a decision converts the same time
 * repeatedly.
 */
export const timestampAt = (ms: number): Timestamp => {
  if (ms !== written.ms) written = { ms, text: timestampOf(textAt(ms)) }
  return written.text
}

/** Most times are whole minutes of a few days: their texts need not be computed again. */
const textAt = (ms: number): string => {
  if (ms % MINUTE_MS !== 0 || ms < FIRST_MS || ms > LAST_MS) return new Date(ms).toISOString()
  const midnightMs = ms - (ms % DAY_MS)
  const minute = (ms - midnightMs) / MINUTE_MS
  minutes[minute] ??= new Date(ms).toISOString().slice(DAY_LENGTH)
  return dayTextAt(midnightMs) + minutes[minute]
}

const dayTextAt = (midnightMs: number): string => {
  const known = dayTexts.get(midnightMs)
  if (known !== undefined) return known
  if (dayTexts.size >= DAYS_MAX) dayTexts.clear()
  const text = new Date(midnightMs).toISOString().slice(0, DAY_LENGTH)
  dayTexts.set(midnightMs, text)
  return text
}

const MINUTE_MS = 60_000
/** Length of `2026-02-20T`. */
const DAY_LENGTH = 11
const DAYS_MAX = 100
const dayTexts = new Map<number, string>()
/** The rest of the text, for each minute of a day. */
const minutes: string[] = []

/** The inverse of `timestampAt`: a timestamp in milliseconds since 1970. */
export const msOf = (ts: Timestamp): number => {
  if (ts === written.text) return Math.trunc(written.ms)
  if (ts !== read.text) read = { ms: parsedMs(ts), text: ts }
  return read.ms
}

const parsedMs = (ts: Timestamp): number => {
  const known = times.get(ts)
  if (known !== undefined) return known
  if (times.size >= TIMES_MAX) times.clear()
  const ms = Date.parse(ts)
  times.set(ts, ms)
  return ms
}

/** Cached parsed times. A decision converts the same few timestamps again and again. */
const TIMES_MAX = 1000
const times = new Map<Timestamp, number>()

let written = { ms: 0, text: timestampOf(new Date(0).toISOString()) }
let read = written

/** UTC days since 1970. */
export const dayNumber = (ts: Timestamp): number => Math.floor(msOf(ts) / DAY_MS)

/**
 * A time in any accepted form, converted to the form we write; null if the text is no time. A date alone means its
 * midnight, a missing zone means UTC, digits beyond the millisecond are cut.
 */
export const parseTimestamp = (text: string): Timestamp | null => {
  const [, day, hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] = FORM.exec(text) ?? []
  if (day === undefined || !isInCalendar(day)) return null
  const milliseconds = fraction.slice(0, 3).padEnd(3, '0')
  const offset = zone.toUpperCase().replace(/^([+-]\d\d):?(\d\d)$/, '$1:$2')
  const ms = Date.parse(`${day}T${hour}:${minute}:${second}.${milliseconds}${offset}`)
  return ms >= FIRST_MS && ms <= LAST_MS ? timestampAt(ms) : null
}

/** Whether the text already is in the form we write. */
export const isTimestamp = (text: string): text is Timestamp => {
  const ms = Date.parse(text)
  return ms >= FIRST_MS && ms <= LAST_MS && new Date(ms).toISOString() === text
}

/** A timestamp from outside, in the form of the wire. */
export const timestamp = () =>
  z
    .string()
    .max(LENGTH_MAX)
    .transform((text, context) => {
      const ts = parseTimestamp(text)
      if (ts !== null) return ts
      context.addIssue({
        code: 'custom',
        message: 'must be a date and time such as 2026-02-20T00:29:58Z, from 1970 to 9999',
        params: { type: 'timestamp_invalid' },
      })
      return z.NEVER
    })
    .meta({ type: 'string', format: 'date-time', examples: ['2026-02-20T00:29:58.000Z'] })

/** Whether a time is further ahead of now than clocks may differ, so that it cannot have happened yet. */
export const isTooFarAhead = (ts: Timestamp, now: Timestamp, skewSecondsMax: number): boolean =>
  ts !== now && Date.parse(ts) > msOf(now) + skewSecondsMax * 1000

/**
 * Whether a time from the log cannot be true. Clocks differ a little, but a time further ahead of now was written by a
 * wrong clock. The engine never waits for such a time or counts it as the latest.
 */
export const isFromFuture = (atMs: number, nowMs: number): boolean => atMs - nowMs > AHEAD_MS_MAX

/** Whether this much time has passed. Nothing waits for a time from the future. */
export const hasPassed = (ms: number, since: Timestamp, now: Timestamp): boolean => {
  const [sinceMs, nowMs] = [Date.parse(since), Date.parse(now)]
  return nowMs - sinceMs >= ms || isFromFuture(sinceMs, nowMs)
}

const AHEAD_MS_MAX = 10_000

const LENGTH_MAX = 256

const FORM =
  /^(\d{4}-\d{2}-\d{2})(?:[Tt ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d+))?)?(Z|z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?)?$/

const FIRST_MS = 0
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** 30 February would otherwise become a day in March. */
const isInCalendar = (day: string): boolean => {
  const [year = 0, month = 0, date = 0] = day.split('-').map(Number)
  return new Date(Date.UTC(year, month - 1, date)).toISOString().startsWith(day)
}

/** After how long a call may be judged. */
export const HORIZONS = ['1h', '4h', '24h', '3d', '7d'] as const

export type Horizon = (typeof HORIZONS)[number]

export const HORIZON_MS: Readonly<Record<Horizon, number>> = {
  '1h': HOUR_MS,
  '4h': 4 * HOUR_MS,
  '24h': 24 * HOUR_MS,
  '3d': 72 * HOUR_MS,
  '7d': 168 * HOUR_MS,
}

export const horizonIn = (value: unknown): Horizon | null =>
  HORIZONS.find((horizon) => horizon === value) ?? null
