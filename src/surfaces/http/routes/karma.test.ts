import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectFault, expectProblem } from '../expectations.fixture.ts'
import { OPERATOR_TOKEN, startTestServer, type TestServer } from '../test-server.fixture.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.close())

const settle = (json: unknown) => server.call('POST', '/karma/settle', { json })

describe('the treasury', () => {
  it('is empty on a fresh server', async () => {
    expect((await server.call('GET', '/treasury')).body).toEqual({
      enabled: true,
      percentage: 0.005,
      treasury_address: '',
      pending_intents: 0,
      receipts: 0,
      pending_usd: 0,
      settled_usd: 0,
    })
    expect((await server.call('GET', '/karma/intents')).body).toEqual({ items: [] })
    expect((await server.call('GET', '/karma/receipts')).body).toEqual({ items: [] })
  })

  it('follows the configuration', async () => {
    const karma = { enabled: false, percentage: 0.1, treasury_address: '0xabc' }
    const other = await startTestServer({ settings: { karma } })
    expect((await other.call('GET', '/treasury')).body).toMatchObject(karma)
    await other.close()
  })
})

describe('a settlement', () => {
  it('needs a body', async () => {
    expectFault(await server.call('POST', '/karma/settle'), ['body'], 'missing')
    for (const body of ['[]', '"x"', 'null', '7']) {
      expectFault(await server.call('POST', '/karma/settle', { body }), ['body'], 'object_type')
    }
    expectProblem(await server.call('POST', '/karma/settle', { body: '{' }), 'request.malformed_json', 400)
  })

  it.each([
    [{}, 'intent_ids', 'missing'],
    [{ intent_ids: null }, 'intent_ids', 'array_type'],
    [{ intent_ids: 'x' }, 'intent_ids', 'array_type'],
    [{ intent_ids: {} }, 'intent_ids', 'array_type'],
    [{ intent_ids: [1] }, 'intent_ids.0', 'string_type'],
    [{ intent_ids: ['x', null] }, 'intent_ids.1', 'string_type'],
    [{ intent_ids: ['x'], tx_hash: '' }, 'tx_hash', 'string_too_short'],
    [{ intent_ids: ['x'], tx_hash: 7 }, 'tx_hash', 'string_type'],
    [{ intent_ids: ['x'], tx_hash: 'x'.repeat(257) }, 'tx_hash', 'string_too_long'],
  ])('is rejected for %j', async (json, loc, type) => {
    const answer = await settle(json)
    expectProblem(answer, 'karma.settlement_rejected', 400)
    expect(answer.body['errors']).toMatchObject([{ loc: ['body', ...loc.split('.')], type }])
  })

  it('is rejected while nothing is pending, with what was skipped', async () => {
    const { seq } = await server.log.head()
    const none = await settle({ intent_ids: [] })
    expectProblem(none, 'karma.settlement_rejected', 400)
    expect(none.body['skipped']).toEqual([])
    const unknown = await settle({ intent_ids: ['x', '__proto__', 'x', '<b>|'], tx_hash: null, extra: 1 })
    expectProblem(unknown, 'karma.settlement_rejected', 400)
    expect(unknown.body['skipped']).toEqual([
      { id: 'x', reason: 'unknown' },
      { id: '__proto__', reason: 'unknown' },
      { id: '<b>|', reason: 'unknown' },
    ])
    expect((await settle({ intent_ids: ['x'], tx_hash: '0xdeadbeef' })).status).toBe(400)
    expect((await server.log.head()).seq).toBe(seq)
  })

  it('is for operators', async () => {
    const strict = await startTestServer({ settings: { api: { operator_token: OPERATOR_TOKEN } } })
    expectProblem(await strict.call('POST', '/karma/settle', { json: {} }), 'auth.forbidden', 403)
    const operator = await strict.call('POST', '/karma/settle', { json: {}, token: OPERATOR_TOKEN })
    expectProblem(operator, 'karma.settlement_rejected', 400)
    await strict.close()
  })
})

describe('positions', () => {
  it('are none on a fresh server', async () => {
    for (const query of ['', '/', '?status=open', '?status=closed', '?status=all&limit=1', '?limit=500']) {
      const answer = await server.call('GET', `/positions${query}`)
      expect([answer.status, answer.text], query).toEqual([200, '[]'])
    }
  })

  it('are not found in words of their own', async () => {
    for (const id of ['none', '%00', '%7C', '__proto__', 'x'.repeat(500), '%3Cscript%3E']) {
      const { status, text, headers } = await server.call('GET', `/positions/${id}`)
      expect([status, text]).toEqual([404, '{"detail":"Position not found"}'])
      expect(headers.get('content-type')).toBe('application/json')
      expect(headers.get('x-request-id')).not.toBeNull()
    }
    expectProblem(await server.call('GET', '/positions/none', { token: null }), 'auth.missing_token', 401)
  })

  it('refuse what is no filter', async () => {
    for (const [query, name, type] of [
      ['status=nope', 'status', 'enum'],
      ['status=', 'status', 'enum'],
      ['status=open&status=all', 'status', 'enum'],
      ['limit=0', 'limit', 'greater_than_equal'],
      ['limit=501', 'limit', 'less_than_equal'],
      ['limit=x', 'limit', 'int_type'],
    ] as const) {
      expectFault(await server.call('GET', `/positions?${query}`), ['query', name], type, query)
    }
  })
})
