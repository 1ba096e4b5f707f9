import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectFault, expectProblem } from '../expectations.fixture.ts'
import { startTestServer, type TestServer } from '../test-server.fixture.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
  const json = { node_id: 'n1', name: 'Ann', role: 'curator' }
  await server.call('POST', '/contributors/register', { json })
})
afterAll(() => server.close())

const VALID = { event_type: 'signal.curator.v1', node_id: 'n1' }

const submit = (json: object) => server.call('POST', '/signals/submit', { json })
const submitText = (members: string) =>
  server.call('POST', '/signals/submit', {
    body: `{"event_type":"signal.curator.v1","node_id":"n1",${members}}`,
  })

const nested = (depth: number): object => (depth === 1 ? {} : { a: nested(depth - 1) })

describe('what is no submission', () => {
  it.each([
    ['event_type', undefined, 'missing'],
    ['event_type', null, 'string_type'],
    ['event_type', 7, 'string_type'],
    ['node_id', undefined, 'missing'],
    ['node_id', null, 'string_type'],
    ['node_id', '', 'string_too_short'],
    ['node_id', 'a|b', 'string_pattern'],
    ['node_id', 'a\u0000b', 'string_pattern'],
    ['node_id', 'a\nb', 'string_pattern'],
    ['node_id', 'x'.repeat(257), 'string_too_long'],
    ['ts', null, 'string_type'],
    ['ts', 1_771_547_398, 'string_type'],
    ['ts', 'nope', 'timestamp_invalid'],
    ['ts', '', 'timestamp_invalid'],
    ['ts', '2026-02-30T00:00:00Z', 'timestamp_invalid'],
    ['ts', '2026-02-20T00:00:60Z', 'timestamp_invalid'],
    ['ts', '1969-12-31T23:59:59Z', 'timestamp_invalid'],
    ['ts', '2026-02-20T00:40:00Z', 'timestamp_in_future'],
    ['ts', '2026-02-20T00:35:00.001Z', 'timestamp_in_future'],
    ['ts', '9999-12-31T23:59:59Z', 'timestamp_in_future'],
    ['source', 7, 'string_type'],
    ['source', 'a|b', 'string_pattern'],
    ['source', 'a\u007fb', 'string_pattern'],
    ['source', 'x'.repeat(257), 'string_too_long'],
    ['payload', null, 'object_type'],
    ['payload', [], 'object_type'],
    ['payload', 'text', 'object_type'],
    ['dedupe_key', null, 'string_type'],
    ['dedupe_key', '', 'string_too_short'],
    ['dedupe_key', 'a|b', 'string_pattern'],
    ['dedupe_key', 'a\u001fb', 'string_pattern'],
    ['dedupe_key', 'x'.repeat(201), 'string_too_long'],
  ])('%s %j', async (member, value, type) => {
    expectFault(await submit({ ...VALID, [member]: value }), ['body', member], type)
  })

  it.each([
    ['symbol', '', 'string_too_short'],
    ['symbol', 'x'.repeat(33), 'string_too_long'],
    ['symbol', 7, 'string_type'],
    ['symbol', null, 'string_type'],
    ['direction', 'up', 'enum'],
    ['direction', 1, 'enum'],
    ['conviction', 11, 'less_than_equal'],
    ['conviction', 10.000001, 'less_than_equal'],
    ['conviction', -1, 'greater_than_equal'],
    ['conviction', '7', 'number_type'],
    ['conviction', null, 'number_type'],
    ['rationale', 'x'.repeat(20_001), 'string_too_long'],
    ['rationale', {}, 'string_type'],
  ])('a payload with %s %j', async (member, value, type) => {
    expectFault(await submit({ ...VALID, payload: { [member]: value } }), ['body', 'payload', member], type)
  })

  it('values that have no meaning', async () => {
    const infinite = await submitText('"payload":{"conviction":1e999}')
    expectFault(infinite, ['body', 'payload', 'conviction'], 'number_not_finite')
    const lone = await submitText('"payload":{"rationale":"\\ud800"}')
    expectFault(lone, ['body', 'payload', 'rationale'], 'unicode_invalid')
    const source = await submitText('"source":"\\udc00"')
    expectFault(source, ['body', 'source'], 'unicode_invalid')
  })

  it('too much, or too deep', async () => {
    // `{"a":""}` are eight bytes.
    expect((await submit({ ...VALID, payload: { a: 'x'.repeat(65_528) } })).status).toBe(200)
    const large = await submit({ ...VALID, payload: { a: 'x'.repeat(65_529) } })
    expectFault(large, ['body', 'payload'], 'too_large')
    const wide = await submit({ ...VALID, payload: { a: 'ü'.repeat(40_000) } })
    expectFault(wide, ['body', 'payload'], 'too_large')
    expect((await submit({ ...VALID, payload: nested(32) })).status).toBe(200)
    const deep = await submit({ ...VALID, payload: nested(33) })
    expect([deep.status, deep.body['errors']]).toMatchObject([422, [{ type: 'too_deep' }]])
    const larger = await submit({ ...VALID, payload: { a: 'x'.repeat(2 * 1024 * 1024) } })
    expectProblem(larger, 'request.too_large', 413)
  })

  it('no object, no JSON, nothing', async () => {
    for (const body of ['[]', '"x"', 'null', '7']) {
      const answer = await server.call('POST', '/signals/submit', { body })
      expectFault(answer, ['body'], 'object_type', body)
    }
    expectFault(await server.call('POST', '/signals/submit'), ['body'], 'missing')
    const malformed = await server.call('POST', '/signals/submit', { body: '{' })
    expectProblem(malformed, 'request.malformed_json', 400)
    const text = await server.call('POST', '/signals/submit', {
      body: 'x',
      headers: { 'content-type': 'text/plain' },
    })
    expectProblem(text, 'request.unsupported_media_type', 415)
    const anonymous = await server.call('POST', '/signals/submit', { body: '{', token: null })
    expectProblem(anonymous, 'auth.missing_token', 401)
  })

  it('is refused with all its faults at once, before anything else is checked', async () => {
    const answer = await submit({
      event_type: 'nope',
      node_id: '',
      source: 'a|b',
      payload: { conviction: 11 },
    })
    expect(answer.status).toBe(422)
    expect((answer.body['errors'] as { loc: string[] }[]).map(({ loc }) => loc.join('.'))).toEqual([
      'body.node_id',
      'body.source',
      'body.payload.conviction',
    ])
    const both = await server.call('POST', '/signals/submit', {
      json: { ...VALID, ts: '2027-01-01', dedupe_key: 'a' },
      headers: { 'idempotency-key': 'b' },
    })
    expect(both.body['errors']).toMatchObject([{ type: 'conflict' }, { type: 'timestamp_in_future' }])
  })

  it('follows the configured skew', async () => {
    const strict = await startTestServer({ settings: { signals: { max_future_skew_seconds: 0 } } })
    const json = { ...VALID, node_id: 'nobody', ts: '2026-02-20T00:30:00.001Z' }
    expectFault(await strict.call('POST', '/signals/submit', { json }), ['body', 'ts'], 'timestamp_in_future')
    const now = { ...json, ts: '2026-02-20T00:30:00Z' }
    expectProblem(await strict.call('POST', '/signals/submit', { json: now }), 'contributor.not_found', 404)
    await strict.close()
  })
})
