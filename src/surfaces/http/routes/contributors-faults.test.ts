import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectFault } from '../expectations.fixture.ts'
import { startTestServer, type TestServer } from '../test-server.fixture.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.close())

const register = (json: object) =>
  server.call('POST', '/contributors/register', {
    json: { node_id: 'n1', name: 'Ann', role: 'curator', ...json },
  })

describe('what is no registration', () => {
  it.each([
    ['node_id', undefined, 'missing'],
    ['node_id', 7, 'string_type'],
    ['node_id', '', 'string_too_short'],
    ['node_id', 'x'.repeat(129), 'string_too_long'],
    ['node_id', 'a|b', 'string_pattern'],
    ['node_id', 'a\u0000b', 'string_pattern'],
    ['name', undefined, 'missing'],
    ['name', null, 'string_type'],
    ['name', '', 'string_too_short'],
    ['name', 'x'.repeat(129), 'string_too_long'],
    ['node_id', 'ann\u200b', 'string_pattern'],
    ['node_id', ' ann', 'string_pattern'],
    ['name', 'Ann\u0000', 'string_pattern'],
    ['name', '\u202eAnn', 'string_pattern'],
    ['name', 'Ann ', 'string_pattern'],
    ['role', '\u2066operator', 'string_pattern'],
    ['role', ' operator', 'string_pattern'],
    ['role', undefined, 'missing'],
    ['role', ['operator'], 'string_type'],
    ['role', '', 'string_too_short'],
    ['role', 'x'.repeat(65), 'string_too_long'],
    ['metadata', null, 'object_type'],
    ['metadata', [], 'object_type'],
    ['metadata', 'x', 'object_type'],
    ['metadata', { a: 'x'.repeat(16_384) }, 'too_large'],
  ])('%s %j', async (member, value, type) => {
    expectFault(await register({ [member]: value }), ['body', member], type)
  })

  it('but may be anything within the limits', async () => {
    const json = {
      node_id: "'; DROP TABLE events; -- 😀",
      name: '<script>alert(1)</script>|',
      role: 'x'.repeat(64),
      // `{"a":""}` are eight bytes.
      metadata: { a: 'x'.repeat(16_376) },
    }
    expect((await register(json)).body).toMatchObject(json)
    const { body } = await server.call('POST', '/contributors/register', { body: '{"node_id":"\\ud800"}' })
    expect(body['errors']).toMatchObject([{ loc: ['body', 'node_id'], type: 'unicode_invalid' }])
  })
})
