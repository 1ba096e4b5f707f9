import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectFault } from '../expectations.fixture.ts'
import { startTestServer, type TestServer } from '../test-server.fixture.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
  await register({})
})
afterAll(() => server.close())

const register = (json: object) =>
  server.call('POST', '/producers/register', {
    json: { name: 'p1', domain: 'onchain', endpoint: 'https://example.com/x', ...json },
  })
const feedback = (json: object) => server.call('POST', '/producers/p1/feedback', { json })

describe('what is no producer', () => {
  it.each([
    ['name', undefined, 'missing'],
    ['name', null, 'string_type'],
    ['name', 7, 'string_type'],
    ['name', '', 'string_pattern'],
    ['name', '-x', 'string_pattern'],
    ['name', '.x', 'string_pattern'],
    ['name', '__proto__', 'string_pattern'],
    ['name', 'a b', 'string_pattern'],
    ['name', 'a/b', 'string_pattern'],
    ['name', 'a|b', 'string_pattern'],
    ['name', 'a\u0000', 'string_pattern'],
    ['name', 'p1\n', 'string_pattern'],
    ['name', '<b>', 'string_pattern'],
    ['name', 'ü', 'string_pattern'],
    ['name', 'x'.repeat(129), 'string_too_long'],
    ['domain', undefined, 'missing'],
    ['domain', {}, 'string_type'],
    ['domain', '', 'string_pattern'],
    ['domain', '7x', 'string_pattern'],
    ['domain', 'a.b', 'string_pattern'],
    ['domain', "a';--", 'string_pattern'],
    ['domain', 'x'.repeat(65), 'string_too_long'],
    ['endpoint', undefined, 'missing'],
    ['endpoint', 7, 'string_type'],
    ['endpoint', '', 'url_invalid'],
    ['endpoint', 'text', 'url_invalid'],
    ['endpoint', 'ftp://x', 'url_invalid'],
    ['endpoint', 'file:///etc/passwd', 'url_invalid'],
    ['endpoint', 'https://user:secret@example.com/', 'url_invalid'],
    ['endpoint', 'https://example.com/\r\nHost: evil', 'url_invalid'],
    ['endpoint', `https://example.com/${'x'.repeat(2048)}`, 'string_too_long'],
    ['schedule', null, 'string_type'],
    ['schedule', 15, 'string_type'],
    ['schedule', '', 'cron_invalid'],
    ['schedule', 'soon', 'cron_invalid'],
    ['schedule', '61 * * * *', 'cron_invalid'],
    ['schedule', '* * * * * *', 'cron_invalid'],
    ['schedule', '0 0 30 2 *', 'cron_invalid'],
    ['schedule', '@hourly', 'cron_invalid'],
  ])('%s %j', async (member, value, type) => {
    expectFault(await register({ [member]: value }), ['body', member], type)
  })

  it('but may be as long as this', async () => {
    const json = {
      name: 'x'.repeat(128),
      domain: 'x'.repeat(64),
      endpoint: `https://a.b/${'x'.repeat(2036)}`,
    }
    expect((await register(json)).body).toMatchObject(json)
  })
})

describe('what is no feedback', () => {
  it.each([
    ['signal_id', null, 'string_type'],
    ['signal_id', 7, 'string_type'],
    ['signal_id', '', 'string_too_short'],
    ['signal_id', 'a|b', 'string_pattern'],
    ['signal_id', 'a\u0000', 'string_pattern'],
    ['signal_id', 'x'.repeat(257), 'string_too_long'],
    ['outcome', 'maybe', 'enum'],
    ['outcome', null, 'enum'],
    ['outcome', 'PROFIT', 'enum'],
    ['correct', 'true', 'boolean_type'],
    ['correct', 1, 'boolean_type'],
    ['correct', null, 'boolean_type'],
    ['pnl', '12', 'number_type'],
    ['pnl', null, 'number_type'],
    ['note', 7, 'string_type'],
    ['note', 'x'.repeat(2001), 'string_too_long'],
    ['window_hours', 0, 'greater_than_equal'],
    ['window_hours', 721, 'less_than_equal'],
    ['window_hours', 1.5, 'int_type'],
    ['window_hours', '24', 'number_type'],
    ['window_hours', null, 'number_type'],
  ])('%s %j', async (member, value, type) => {
    expectFault(await feedback({ [member]: value }), ['body', member], type)
  })

  it('or a list, or a number beyond all numbers', async () => {
    const call = (body: string) => server.call('POST', '/producers/p1/feedback', { body })
    expectFault(await call('[]'), ['body'], 'object_type')
    expectFault(await call('{"pnl":1e999}'), ['body', 'pnl'], 'number_not_finite')
    expectFault(await call('{"note":"\\ud800"}'), ['body', 'note'], 'unicode_invalid')
    expect((await server.log.count('learning.feedback')) > 0).toBe(false)
  })
})
