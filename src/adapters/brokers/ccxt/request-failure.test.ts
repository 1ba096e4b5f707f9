import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RequestOutcome } from '../../ccxt.ts'
import { binanceusdm } from './dialects/binanceusdm.ts'
import { reasonOf, failureClassOf } from './request-failure.ts'

const { codes } = binanceusdm

const responseWith = (httpStatus: number, code: string | null): RequestOutcome => ({
  status: 'response',
  httpStatus,
  code,
  message: 'no',
})

describe('a call that failed', () => {
  it('was not done when it was never sent, and may have been done without a response', () => {
    expect(failureClassOf({ status: 'not_sent' }, false, codes)).toBe('not_sent')
    expect(failureClassOf({ status: 'no_response', reason: 'the connection broke' }, true, codes)).toBe(
      'unclear',
    )
  })

  it.each([
    // The exchange refuses the request.
    [400, '-1013', 'refused'],
    [400, '-1021', 'not_sent'],
    [400, '-1102', 'refused'],
    [400, '-1111', 'refused'],
    [400, '-1121', 'refused'],
    [400, '-2010', 'refused'],
    [400, '-2019', 'refused'],
    [400, '-2022', 'refused'],
    [400, '-4164', 'refused'],
    [400, '-5022', 'refused'],
    [401, '-2015', 'refused'],
    // Rate limits: counted before the request is read.
    [429, '-1003', 'not_sent'],
    [429, '-1015', 'not_sent'],
    [418, '-1003', 'not_sent'],
    [503, '-1008', 'not_sent'],
    // The exchange itself does not know.
    [400, '-1000', 'unclear'],
    [400, '-1001', 'unclear'],
    [400, '-1006', 'unclear'],
    [400, '-1007', 'unclear'],
    [408, '-1007', 'unclear'],
    [500, '-1000', 'unclear'],
    [503, '-1001', 'unclear'],
    // The order exists.
    [400, '-4116', 'unclear'],
    // A proxy on the way.
    [403, null, 'unclear'],
    [408, null, 'unclear'],
    [429, null, 'unclear'],
    [502, null, 'unclear'],
    [504, null, 'unclear'],
    [200, null, 'unclear'],
  ] as const)('with HTTP %i and code %s is %s', (httpStatus, code, failure) => {
    expect(failureClassOf(responseWith(httpStatus, code), false, codes)).toBe(failure)
  })

  it('with a server error is always unclear, whatever the library reports', () => {
    fc.assert(
      fc.property(fc.integer({ min: 500, max: 599 }), fc.boolean(), (httpStatus, isRefusal) => {
        expect(failureClassOf(responseWith(httpStatus, null), isRefusal, codes)).toBe('unclear')
      }),
    )
  })

  it('without a code is refused where the library recognises a refusal', () => {
    expect(failureClassOf(responseWith(200, null), true, codes)).toBe('refused')
    expect(failureClassOf(responseWith(400, null), true, codes)).toBe('refused')
  })
})

describe('a reason', () => {
  const credentials = { apiKey: 'key-abc', secret: 'secret-def', password: 'word-ghi' }

  it('has no secret and no signed address', () => {
    const error = new Error(
      'binanceusdm GET https://fapi.binance.com/fapi/v1/order?timestamp=1&signature=0abc key-abc\nsecret-def word-ghi',
    )
    const reason = reasonOf(error, { status: 'not_sent' }, credentials)
    expect(reason).not.toMatch(/0abc|key-abc|secret-def|word-ghi|\n/)
    expect(reason).toContain('not sent')
  })

  it('is the message of the exchange, shortened', () => {
    const outcome = {
      ...responseWith(400, '-2019'),
      message: `Margin is insufficient. ${'x'.repeat(5000)}`,
    } as RequestOutcome
    const reason = reasonOf(new Error('any'), outcome, credentials)
    expect(reason).toContain('-2019 Margin is insufficient.')
    expect(reason.length).toBeLessThan(250)
    expect(reasonOf('odd', responseWith(502, null), credentials)).toContain('HTTP 502')
    expect(reasonOf('odd', responseWith(200, null), credentials)).toContain('cannot be read: odd')
  })
})
