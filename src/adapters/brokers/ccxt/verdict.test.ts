import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createReasons } from './reasons.ts'
import { verdictOf, type Outcome } from './verdict.ts'

const answered = (httpStatus: number, code: string | null): Outcome => ({
  status: 'answered',
  httpStatus,
  code,
  message: 'no',
})

describe('a call that failed', () => {
  it('was not done when it was never sent, and may have been when nobody answered', () => {
    expect(verdictOf({ status: 'not_sent' }, false)).toBe('refused')
    expect(verdictOf({ status: 'no_answer', why: 'the connection broke' }, true)).toBe('unclear')
  })

  it.each([
    // Clear: the venue looked at it and says no.
    [400, '-1013', 'refused'],
    [400, '-1021', 'refused'],
    [400, '-1102', 'refused'],
    [400, '-1111', 'refused'],
    [400, '-1121', 'refused'],
    [400, '-2010', 'refused'],
    [400, '-2019', 'refused'],
    [400, '-2022', 'refused'],
    [400, '-4164', 'refused'],
    [400, '-5022', 'refused'],
    [401, '-2015', 'refused'],
    // Clear: counted before it was looked at.
    [429, '-1003', 'refused'],
    [429, '-1015', 'refused'],
    [418, '-1003', 'refused'],
    [503, '-1008', 'refused'],
    // The venue itself does not know.
    [400, '-1000', 'unclear'],
    [400, '-1001', 'unclear'],
    [400, '-1006', 'unclear'],
    [400, '-1007', 'unclear'],
    [408, '-1007', 'unclear'],
    [500, '-1000', 'unclear'],
    [503, '-1001', 'unclear'],
    // The order is there.
    [400, '-4116', 'unclear'],
    // Somebody between us and the venue.
    [403, null, 'unclear'],
    [408, null, 'unclear'],
    [429, null, 'unclear'],
    [502, null, 'unclear'],
    [504, null, 'unclear'],
    [200, null, 'unclear'],
  ] as const)('with HTTP %i and code %s is %s', (httpStatus, code, verdict) => {
    expect(verdictOf(answered(httpStatus, code), false)).toBe(verdict)
  })

  it('is never clear because of a server error, whatever the library thinks', () => {
    fc.assert(
      fc.property(fc.integer({ min: 500, max: 599 }), fc.boolean(), (httpStatus, isRefusal) => {
        expect(verdictOf(answered(httpStatus, null), isRefusal)).toBe('unclear')
      }),
    )
  })

  it('without a code is clear where the library knows the venue to say no', () => {
    expect(verdictOf(answered(200, null), true)).toBe('refused')
    expect(verdictOf(answered(400, null), true)).toBe('refused')
  })
})

describe('a reason', () => {
  const reasonOf = createReasons({ apiKey: 'key-abc', secret: 'secret-def', password: 'word-ghi' })

  it('holds no secret and no address that was signed', () => {
    const error = new Error(
      'binanceusdm GET https://fapi.binance.com/fapi/v1/order?timestamp=1&signature=0abc key-abc\nsecret-def word-ghi',
    )
    const told = reasonOf(error, { status: 'not_sent' })
    expect(told).not.toMatch(/0abc|key-abc|secret-def|word-ghi|\n/)
    expect(told).toContain('not sent')
  })

  it('is what the venue said, and not a whole page', () => {
    const outcome = {
      ...answered(400, '-2019'),
      message: `Margin is insufficient. ${'x'.repeat(5000)}`,
    } as Outcome
    const told = reasonOf(new Error('whatever'), outcome)
    expect(told).toContain('-2019 Margin is insufficient.')
    expect(told.length).toBeLessThan(250)
    expect(reasonOf('odd', answered(502, null))).toContain('HTTP 502')
    expect(reasonOf('odd', answered(200, null))).toContain('cannot be read: odd')
  })
})
