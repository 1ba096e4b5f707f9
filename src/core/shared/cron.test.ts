import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { faultsOf } from './faults.ts'
import { cronText, intervalMsOf, parseCron } from './cron.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

describe('a schedule', () => {
  it.each([
    ['* * * * *', MINUTE],
    ['*/15 * * * *', 15 * MINUTE],
    ['0 * * * *', HOUR],
    ['5,10,50 * * * *', 5 * MINUTE],
    ['58,2 * * * *', 4 * MINUTE],
    ['*/25 * * * *', 10 * MINUTE],
    ['10-50/20 * * * *', 20 * MINUTE],
    ['0 */6 * * *', 6 * HOUR],
    ['0 0,23 * * *', HOUR],
    ['30 9 * * *', DAY],
    ['30 9 * * 1-5', DAY],
    ['30 9 * * MON', 7 * DAY],
    ['30 9 * * mon,thu', 3 * DAY],
    ['0 0 * * 0,7', 7 * DAY],
    ['0 0 * * 5-7', DAY],
    ['0 0 1 * *', 28 * DAY],
    ['0 0 1 JAN *', 365 * DAY],
    ['0 0 31 * *', 31 * DAY],
    ['0 0 29 2 *', 1461 * DAY],
    ['0 0 1 * MON', DAY],
    ['0 0 1-7 * */2', DAY],
    ['0  0 15 jan-mar *', 28 * DAY],
    ['0 23 * * *', DAY],
    ['0 0,23 1 * *', 23 * HOUR],
  ])('%s runs at least %d ms apart', (text, gap) => {
    expect(intervalMsOf(text)).toBe(gap)
  })

  it.each([
    '',
    'soon',
    '@daily',
    '* * * *',
    '* * * * * *',
    ' * * * * *',
    '* * * * * ',
    '*\t* * * *',
    '61 * * * *',
    '60 * * * *',
    '* 24 * * *',
    '* * 0 * *',
    '* * 32 * *',
    '* * * 0 *',
    '* * * 13 *',
    '* * * * 8',
    '-1 * * * *',
    '1.5 * * * *',
    '1,,2 * * * *',
    ', * * * *',
    '5-1 * * * *',
    '1-2-3 * * * *',
    '5/10 * * * *',
    '*/0 * * * *',
    '*/60 * * * *',
    '*/ * * * *',
    '/5 * * * *',
    '** * * * *',
    '* * L * *',
    '* * 1W * *',
    '* * ? * *',
    '* * * JAN-FOO *',
    '* * * MON *',
    '* * * * JAN',
    '* * * * 1#2',
    '0 0 30 2 *',
    '0 0 31 4,6,9,11 *',
    '000 * * * *',
    `${'0,'.repeat(200)}0 * * * *`,
    '０ * * * *',
    '* * * * *\n',
    "'; DROP TABLE events; --",
  ])('%j is none', (text) => {
    expect(parseCron(text)).toBeNull()
    expect(intervalMsOf(text)).toBeNull()
  })

  it('counts a day that either field names, once both name some', () => {
    expect(parseCron('0 0 13 * 5')).toMatchObject({ eitherDay: true })
    expect(parseCron('0 0 13 * *')).toMatchObject({ eitherDay: false })
  })

  it('has the gap that counting its runs gives', () => {
    const set = (min: number, max: number) =>
      fc.uniqueArray(fc.integer({ min, max }), { minLength: 1, maxLength: 4 })
    const field = (min: number, max: number) =>
      fc.oneof(
        fc.constant('*'),
        set(min, max).map((values) => values.join(',')),
      )
    fc.assert(
      fc.property(field(0, 59), field(0, 23), field(0, 6), (minute, hour, weekday) => {
        const schedule = `${minute} ${hour} * * ${weekday}`
        const cron = parseCron(schedule)
        if (cron === null) throw new Error('no schedule')
        let previous = -Infinity
        let smallest = Infinity
        for (let at = 0; at < 15 * DAY; at += MINUTE) {
          const date = new Date(at)
          const runs =
            cron.minutes.has(date.getUTCMinutes()) &&
            cron.hours.has(date.getUTCHours()) &&
            cron.daysOfWeek.has(date.getUTCDay())
          if (!runs) continue
          smallest = Math.min(smallest, at - previous)
          previous = at
        }
        expect(intervalMsOf(schedule)).toBe(smallest)
      }),
      { numRuns: 25 },
    )
  })

  it('never breaks, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(intervalMsOf(text) ?? 1).toBeGreaterThan(0)
      }),
    )
  })

  it('is named as a fault in a request', () => {
    const typesOf = (value: unknown) => {
      const parsed = cronText().safeParse(value)
      return parsed.success ? parsed.data : faultsOf(parsed.error, []).map(({ type }) => type)
    }
    expect(typesOf('*/15 * * * *')).toBe('*/15 * * * *')
    expect(typesOf('61 * * * *')).toEqual(['cron_invalid'])
    expect(typesOf(15)).toEqual(['string_type'])
  })
})
