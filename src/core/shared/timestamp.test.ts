import { timestampOf } from './brand.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { faultsOf } from './faults.ts'
import { isTimestamp, isTooFarAhead, parseTimestamp, timestamp, timestampAt } from './time.ts'

describe('a moment', () => {
  it('is written as JavaScript writes it, whichever was written before', () => {
    const ms = fc.integer({ min: -10, max: 253_402_300_800_000 })
    const minute = ms.map((any) => any - (any % 60_000))
    const nearby = fc.tuple(minute, fc.integer({ min: -1500, max: 1500 })).map(([at, by]) => at + by * 60_000)
    fc.assert(
      fc.property(fc.array(fc.oneof(ms, minute, nearby)), (times) => {
        for (const at of times) expect(timestampAt(at)).toBe(new Date(at).toISOString())
      }),
    )
    for (const none of [Number.NaN, Infinity]) expect(() => timestampAt(none)).toThrow(RangeError)
  })

  it.each([
    ['2026-02-20', '2026-02-20T00:00:00.000Z'],
    ['2026-02-20T00:29:58', '2026-02-20T00:29:58.000Z'],
    ['2026-02-20T02:29:58+02:00', '2026-02-20T00:29:58.000Z'],
    ['2026-02-20 02:29:58-0130', '2026-02-20T03:59:58.000Z'],
    ['2026-02-20t00:29', '2026-02-20T00:29:00.000Z'],
    ['2026-02-20 00:29z', '2026-02-20T00:29:00.000Z'],
    ['2026-02-20T00:29:58.1', '2026-02-20T00:29:58.100Z'],
    ['2026-02-20T00:29:58.1239999999z', '2026-02-20T00:29:58.123Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['1970-01-01', '1970-01-01T00:00:00.000Z'],
    ['1969-12-31T23:30-01:00', '1970-01-01T00:30:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('%s is %s', (text, context) => {
    expect(parseTimestamp(text)).toBe(context)
  })

  it.each([
    '',
    'nope',
    'now',
    '1771547398',
    '2026-02-30',
    '2025-02-29',
    '2026-00-10',
    '2026-13-01',
    '2026-2-3',
    '1969-12-31',
    '1970-01-01T00:00+00:01',
    '9999-12-31T23:59:59-01:00',
    '+10000-01-01',
    '2026-02-20T24:00',
    '2026-02-20T23:60',
    '2026-02-20T00:00:60Z',
    '2026-02-20T00',
    '2026-02-20Z',
    '2026-02-20T00:00:00.Z',
    '2026-02-20T00:00:00+24:00',
    '2026-02-20T00:00:00+2',
    '2026-02-20T00:00 Z',
    ' 2026-02-20',
    '2026-02-20\n',
    '２０２６-02-20',
    '2026-02-20T00:00:00.000Z|',
  ])('%j is none', (text) => {
    expect(parseTimestamp(text)).toBeNull()
  })

  it('is read back as it is written', () => {
    const times = fc.date({
      min: new Date(0),
      max: new Date('9999-12-31T23:59:59.999Z'),
      noInvalidDate: true,
    })
    fc.assert(
      fc.property(times, (date) => {
        expect(parseTimestamp(date.toISOString())).toBe(date.toISOString())
      }),
    )
  })

  it('is never anything but that form, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(parseTimestamp(text) ?? '1970-01-01T00:00:00.000Z').toMatch(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/)
      }),
    )
  })
})

describe('the one form', () => {
  it.each([
    ['2026-02-20T00:29:58.000Z', true],
    ['9999-12-31T23:59:59.999Z', true],
    ['2026-02-20T00:29:58Z', false],
    ['2026-02-20', false],
    ['2026-02-30T00:00:00.000Z', false],
    ['-000001-01-01T00:00:00.000Z', false],
    ['1969-12-31T23:59:59.999Z', false],
    ['20 Feb 2026 00:29:58 GMT', false],
    ['', false],
  ])('%s', (text, isIt) => {
    expect(isTimestamp(text)).toBe(isIt)
  })

  it('is what is read as itself', () => {
    const times = fc.date({ noInvalidDate: true }).map((date) => date.toISOString())
    fc.assert(
      fc.property(fc.oneof(times, fc.string({ unit: 'binary' })), (text) => {
        expect(isTimestamp(text)).toBe(parseTimestamp(text) === text)
      }),
    )
  })
})

describe('a moment in a request', () => {
  const faultsIn = (value: unknown) => {
    const parsed = timestamp().safeParse(value)
    return parsed.success ? parsed.data : faultsOf(parsed.error, ['body', 'ts']).map(({ type }) => type)
  }

  it('is brought into one form, or named as a fault', () => {
    expect(faultsIn('2026-02-20T02:29:58+02:00')).toBe('2026-02-20T00:29:58.000Z')
    expect(faultsIn('nope')).toEqual(['timestamp_invalid'])
    expect(faultsIn(7)).toEqual(['string_type'])
    expect(faultsIn(`2026-02-20T00:29:58.${'1'.repeat(300)}Z`)).toEqual(['string_too_long'])
  })

  it('may be a little ahead', () => {
    const now = timestampOf('2026-02-20T00:30:00.000Z')
    expect(isTooFarAhead(timestampOf('2026-02-20T00:35:00.000Z'), now, 300)).toBe(false)
    expect(isTooFarAhead(timestampOf('2026-02-20T00:35:00.001Z'), now, 300)).toBe(true)
    expect(isTooFarAhead(now, now, 0)).toBe(false)
  })
})
