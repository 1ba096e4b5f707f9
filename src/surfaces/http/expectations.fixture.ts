import { expect } from 'vitest'
import type { Called } from './test-server.fixture.ts'

/** A problem with all its members, and nothing missing around it. */
export const expectProblem = (
  { status, headers, body }: Called,
  code: string,
  expectedStatus: number,
): void => {
  expect({ status, code: body['code'] }).toEqual({ status: expectedStatus, code })
  expect(headers.get('content-type')).toBe('application/problem+json')
  expect(body).toMatchObject({ status: expectedStatus, code })
  expect(typeof body['title']).toBe('string')
  expect(body['detail']).toMatch(/\S/)
  expect(body['request_id']).toBe(headers.get('x-request-id'))
  expectCommonHeaders(headers)
}

export const expectCommonHeaders = (headers: Headers): void => {
  expect(headers.get('x-request-id')).toMatch(/^[A-Za-z0-9._-]{1,64}$/)
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('cache-control')).toBe('no-store')
}

/** Expects a 422 with a single fault at this place. */
export const expectFault = (called: Called, loc: readonly string[], type: string, what = ''): void => {
  const { status, body } = called
  expect({ status, code: body['code'], errors: body['errors'] }, what).toMatchObject({
    status: 422,
    code: 'request.invalid',
    errors: [{ loc, type }],
  })
  expect(body['errors'], what).toHaveLength(1)
}
