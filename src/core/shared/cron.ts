import { z } from 'zod'

// Not croner 11: `nextRun(from)` reads the clock, which core must not do; it has no smallest interval of a schedule; it
// accepts days that never come; and its check of a minute takes 7 µs instead of 0.1 µs, on the path of every bar.

/** A schedule of five fields in UTC: the minutes, hours, days and months at which it runs. */
export interface Cron {
  readonly minutes: ReadonlySet<number>
  readonly hours: ReadonlySet<number>
  readonly daysOfMonth: ReadonlySet<number>
  readonly months: ReadonlySet<number>
  /** 0 is Sunday. */
  readonly daysOfWeek: ReadonlySet<number>
  /** True if both fields of days are restricted. A day then matches if either field contains it. */
  readonly eitherDay: boolean
}

/**
 * Minute, hour, day of month, month, day of week: `*`, numbers, ranges, lists, steps of `*` or a range, and names of
 * months and days. Null for everything else, and for a schedule whose day never comes.
 */
export const parseCron = (text: string): Cron | null => {
  const fields = text.split(/ +/)
  if (text.length > LENGTH_MAX || fields.length !== FIELDS.length) return null
  const [minutes, hours, daysOfMonth, months, weekdays] = FIELDS.map((field, index) =>
    valuesOf(fields[index] ?? '', field),
  )
  if (!minutes || !hours || !daysOfMonth || !months || !weekdays) return null
  const daysOfWeek = new Set([...weekdays].map((day) => day % 7))
  const cron = {
    minutes,
    hours,
    daysOfMonth,
    months,
    daysOfWeek,
    eitherDay: fields[2] !== '*' && fields[4] !== '*',
  }
  return runningDays(cron).next().done === true ? null : cron
}

/** Smallest interval between two runs of a schedule; null for an invalid schedule. */
export const intervalMsOf = (schedule: string): number | null => {
  const cron = parsedOnce(schedule)
  if (cron === null) return null
  const known = gapsMs.get(cron)
  if (known !== undefined) return known
  const gapMs = smallestGapMs(cron)
  gapsMs.set(cron, gapMs)
  return gapMs
}

/** Schedule of bars of this length, which must divide a day. Lengths below a minute count as a minute. */
export const cronOf = (seconds: number): string => {
  const minutes = Math.max(1, Math.round(seconds / 60))
  if (minutes < 60) return minutes === 1 ? '* * * * *' : `*/${minutes} * * * *`
  const hours = Math.round(minutes / 60)
  if (hours < 24) return hours === 1 ? '0 * * * *' : `0 */${hours} * * *`
  return '0 0 * * *'
}

const gapsMs = new WeakMap<Cron, number>()

/** Whether a schedule runs after `afterMs` and up to `upToMs`. Longer ranges are limited to one day. */
export const firesBetween = (schedule: string, afterMs: number, upToMs: number): boolean => {
  const cron = parsedOnce(schedule)
  if (cron === null) return false
  const first = Math.max(afterMs, upToMs - DAY_MINUTES * MINUTE_MS)
  for (let minute = Math.floor(first / MINUTE_MS) + 1; minute * MINUTE_MS <= upToMs; minute += 1) {
    // Most minutes are excluded without computing a date.
    if (!cron.minutes.has(minute % HOUR_MINUTES)) continue
    if (isEveryHour(cron) || isNamedTime(cron, new Date(minute * MINUTE_MS))) return true
  }
  return false
}

const isEveryHour = ({ hours, months, daysOfMonth, daysOfWeek }: Cron): boolean =>
  hours.size === 24 && months.size === 12 && daysOfMonth.size === 31 && daysOfWeek.size === 7

/** Whether hour and day of a minute match. */
const isNamedTime = (cron: Cron, at: Date): boolean =>
  cron.hours.has(at.getUTCHours()) &&
  cron.months.has(at.getUTCMonth() + 1) &&
  isNamed(cron, at.getUTCDate(), at.getUTCDay())

/** Cached, because schedules are checked every minute and there are few of them. */
const PARSED_MAX = 1000
const parsed = new Map<string, Cron | null>()

const parsedOnce = (schedule: string): Cron | null => {
  const known = parsed.get(schedule)
  if (known !== undefined) return known
  if (parsed.size >= PARSED_MAX) parsed.clear()
  const cron = parseCron(schedule)
  parsed.set(schedule, cron)
  return cron
}

/** The smallest gap between two runs. */
const smallestGapMs = (cron: Cron): number => {
  const minutes = [...cron.hours]
    .flatMap((hour) => [...cron.minutes].map((minute) => hour * 60 + minute))
    .sort(ascending)
  const inDay = smallestStep(minutes)
  const overnight = (minutes[0] ?? 0) - (minutes.at(-1) ?? 0)
  // The calendar matters only if two runs may be closer over midnight than within a day.
  const gap =
    inDay <= DAY_MINUTES + overnight
      ? inDay
      : Math.min(inDay, smallestDayStep(cron) * DAY_MINUTES + overnight)
  return gap * MINUTE_MS
}

export const cronText = () =>
  z
    .string()
    .transform((text, context) => {
      if (parseCron(text) !== null) return text
      context.addIssue({
        code: 'custom',
        message: 'must be a cron schedule of five fields in UTC, such as */15 * * * *',
        params: { type: 'cron_invalid' },
      })
      return z.NEVER
    })
    .meta({ type: 'string', description: 'five-field cron, UTC' })

interface Field {
  readonly min: number
  readonly max: number
  /** Names count from `min`. */
  readonly names: readonly string[]
}

const FIELDS: readonly Field[] = [
  { min: 0, max: 59, names: [] },
  { min: 0, max: 23, names: [] },
  { min: 1, max: 31, names: [] },
  { min: 1, max: 12, names: 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ') },
  // Sunday is both 0 and 7.
  { min: 0, max: 7, names: 'SUN MON TUE WED THU FRI SAT'.split(' ') },
]

const LENGTH_MAX = 256
const HOUR_MINUTES = 60
const DAY_MINUTES = 1440
const MINUTE_MS = 60_000

const PART = /^(?:(\*)|([0-9]{1,2}|[A-Za-z]{3})(?:-([0-9]{1,2}|[A-Za-z]{3}))?)(?:\/([0-9]{1,2}))?$/

const valuesOf = (text: string, field: Field): ReadonlySet<number> | null => {
  const values = new Set<number>()
  for (const part of text.split(',')) {
    const range = rangeOf(part, field)
    if (range === null) return null
    for (let value = range.from; value <= range.to; value += range.step) values.add(value)
  }
  return values
}

interface Range {
  readonly from: number
  readonly to: number
  readonly step: number
}

const rangeOf = (part: string, field: Field): Range | null => {
  const [whole, star, first = '', last, stepText] = PART.exec(part) ?? []
  if (whole === undefined) return null
  // A step needs something to step through.
  if (stepText !== undefined && star === undefined && last === undefined) return null
  const from = star === undefined ? valueOf(first, field) : field.min
  const to = star === undefined ? valueOf(last ?? first, field) : field.max
  const step = Number(stepText ?? 1)
  if (from === null || to === null || from > to || step < 1 || step > field.max) return null
  return { from, to, step }
}

const valueOf = (text: string, { min, max, names }: Field): number | null => {
  const named = names.indexOf(text.toUpperCase())
  if (named !== -1) return min + named
  const value = /^[0-9]+$/.test(text) ? Number(text) : -1
  return value >= min && value <= max ? value : null
}

const ascending = (one: number, other: number): number => one - other

const smallestStep = (values: readonly number[]): number =>
  values.reduce(
    (smallest, value, index) => Math.min(smallest, value - (values[index - 1] ?? -Infinity)),
    Infinity,
  )

const smallestDayStep = (cron: Cron): number => {
  let smallest = Infinity
  let previous = -Infinity
  for (const day of runningDays(cron)) {
    smallest = Math.min(smallest, day - previous)
    // Weekdays alone repeat every week.
    if (smallest === 1 || (namesEveryDate(cron) && day > 14)) return smallest
    previous = day
  }
  return smallest
}

const namesEveryDate = ({ months, daysOfMonth }: Cron): boolean =>
  months.size === 12 && daysOfMonth.size === 31

/** Years after which dates and weekdays repeat. */
const CYCLE_YEARS = 28
const MONTH_LENGTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const
/** The cycle begins on 1 January 2000, a Saturday in a leap year. */
const FIRST_WEEKDAY = 6

/** Days on which the schedule runs, counted from the start of the cycle, slightly beyond its end. */
function* runningDays(cron: Cron): Generator<number> {
  let day = 0
  for (let year = 0; year < 2 * CYCLE_YEARS; year += 1) {
    for (const [month, length] of MONTH_LENGTHS.entries()) {
      const days = month === 1 && year % 4 === 0 ? length + 1 : length
      for (let date = 1; date <= days; date += 1, day += 1) {
        if (cron.months.has(month + 1) && isNamed(cron, date, (FIRST_WEEKDAY + day) % 7)) yield day
      }
    }
  }
}

const isNamed = (cron: Cron, date: number, weekday: number): boolean =>
  cron.eitherDay
    ? cron.daysOfMonth.has(date) || cron.daysOfWeek.has(weekday)
    : cron.daysOfMonth.has(date) && cron.daysOfWeek.has(weekday)
