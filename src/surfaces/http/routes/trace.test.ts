import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { echoed } from '../../../core/shared/echo.ts'
import { expectFault, expectProblem } from '../expectations.fixture.ts'
import { startTestServer, type TestServer, type TestServerOptions } from '../test-server.fixture.ts'

const NOW = '2026-02-20T00:30:00.000Z'
const HOUR_MS = 3_600_000

let server: TestServer
const start = async (options: TestServerOptions = {}) => {
  server = await startTestServer(options)
}
beforeEach(() => start())
afterEach(() => server.close())

const open = async (json?: object) =>
  (await server.call('POST', '/trace/sessions', json === undefined ? {} : { json })).body as { id: string }
const get = async (id: string) => (await server.call('GET', `/trace/sessions/${id}`)).body
const append = (id: string, trace_id: unknown) =>
  server.call('PUT', `/trace/sessions/${id}/append`, { json: { trace_id } })
const close = (id: string) => server.call('DELETE', `/trace/sessions/${id}`)
const raise = (level: number, traceId: string) =>
  server.call('POST', '/kill-switch', { json: { level, reason: 'x' }, headers: { 'x-trace-id': traceId } })

describe('a trace session', () => {
  it('opens without a body', async () => {
    const answer = await server.call('POST', '/trace/sessions')
    const id = answer.body['session_id']
    expect([answer.status, answer.body]).toEqual([
      201,
      {
        session_id: expect.any(String),
        id,
        label: '',
        agent: null,
        owner: 'token',
        status: 'open',
        created_at: NOW,
        last_accessed_at: NOW,
        closed_at: null,
        trace_ids: [id],
      },
    ])
    expect((await server.call('GET', '/trace/sessions')).body).toEqual({ items: [answer.body] })
    expect(await get(String(id))).toEqual({ ...answer.body, expired: false, events: [] })
  })

  it('has a label and an agent, as they are', async () => {
    const said = { label: '<b>|'.padEnd(255, 'x'), agent: "';--".padEnd(128, 'y') }
    expect(await open(said)).toMatchObject(said)
    expect(await open({ agent: null })).toMatchObject({ label: '', agent: null })
  })

  it('shows what happened under its trace ids, in order', async () => {
    const { id } = await open()
    const other = await open()
    await raise(1, id)
    await raise(2, 'elsewhere')
    await raise(1, 'run-7')
    await raise(3, other.id)
    expect((await append(id, 'run-7')).body).toMatchObject({ trace_ids: [id, 'run-7'] })
    const { events } = (await get(id)) as { events: Record<string, unknown>[] }
    expect(events.map(({ type, trace_id }) => [type, trace_id])).toEqual([
      ['system.kill_switch.v1', id],
      ['alert.kill_switch', id],
      ['system.audit.v1', id],
      ['system.kill_switch.v1', 'run-7'],
      ['system.audit.v1', 'run-7'],
    ])
    expect(Object.keys(events[0] ?? {})).toEqual(['id', 'type', 'ts', 'source', 'trace_id', 'payload'])
    expect(events[0]).toMatchObject({ ts: NOW, source: 'api.kill_switch', payload: { level: 1 } })
  })

  it('shows a submission that carries its id', async () => {
    const { id } = await open()
    const contributor = { node_id: 'n1', name: 'Ann', role: 'curator' }
    await server.call('POST', '/contributors/register', { json: contributor })
    const json = { event_type: 'signal.curator.v1', node_id: 'n1', payload: { symbol: 'BTC' } }
    await server.call('POST', '/signals/submit', { json, headers: { 'x-trace-id': id } })
    expect(await get(id)).toMatchObject({
      events: [
        { type: 'signal.curator.v1' },
        { type: 'attribution.recorded.v1' },
        { type: 'system.audit.v1' },
      ],
    })
  })

  it('takes a trace id once', async () => {
    const { id } = await open()
    await append(id, 'run-7')
    const { seq } = await server.log.head()
    expect((await append(id, 'run-7')).body).toMatchObject({ trace_ids: [id, 'run-7'] })
    expect((await server.log.head()).seq).toBe(seq)
  })

  it('is closed as often as anybody likes, and then takes nothing', async () => {
    const { id } = await open()
    const closed = { session_id: id, status: 'closed', closed_at: NOW }
    expect((await close(id)).body).toEqual(closed)
    server.testClock.advance(1000)
    const { seq } = await server.log.head()
    const again = await close(id)
    expect([again.status, again.body]).toEqual([200, closed])
    expect((await server.log.head()).seq).toBe(seq)
    const refused = await append(id, 'run-7')
    expectProblem(refused, 'trace.session_closed', 409)
    expect(refused.body).toMatchObject({ session_id: id, session_status: 'closed' })
    expect(await get(id)).toMatchObject({ status: 'closed', closed_at: NOW, expired: false })
  })

  it('expires some time after the last access', async () => {
    const { id } = await open()
    server.testClock.advance(20 * HOUR_MS)
    await raise(1, id)
    server.testClock.advance(24 * HOUR_MS)
    expect(await get(id)).toMatchObject({ status: 'open', expired: false })
    server.testClock.advance(1)
    expect(await get(id)).toMatchObject({
      status: 'expired',
      expired: true,
      closed_at: null,
      last_accessed_at: '2026-02-20T20:30:00.000Z',
    })
    const refused = await append(id, 'run-7')
    expectProblem(refused, 'trace.session_closed', 409)
    expect(refused.body['session_status']).toBe('expired')
    expect((await close(id)).body).toMatchObject({ status: 'closed' })
  })

  it('expires when the configuration says', async () => {
    await server.close()
    await start({ settings: { trace: { session_ttl_hours: 1 } } })
    const { id } = await open()
    server.testClock.advance(HOUR_MS + 1)
    expect(await get(id)).toMatchObject({ status: 'expired' })
    expectProblem(await append(id, 'run-7'), 'trace.session_closed', 409)
  })
})

describe('the list of trace sessions', () => {
  it('has the newest first, page by page', async () => {
    const ids: string[] = []
    for (let index = 0; index < 4; index += 1) {
      ids.unshift((await open({ label: String(index) })).id)
      if (index === 1) server.testClock.advance(1000)
    }
    const idsOf = async (query: string) =>
      ((await server.call('GET', `/trace/sessions${query}`)).body['items'] as { id: string }[]).map(
        ({ id }) => id,
      )
    expect(await idsOf('')).toEqual(ids)
    expect(await idsOf('?limit=2&offset=1')).toEqual(ids.slice(1, 3))
    expect(await idsOf('?offset=9')).toEqual([])
    for (const [query, name, type] of [
      ['limit=0', 'limit', 'greater_than_equal'],
      ['limit=501', 'limit', 'less_than_equal'],
      ['limit=x', 'limit', 'int_type'],
      ['offset=-1', 'offset', 'greater_than_equal'],
      ['offset=', 'offset', 'int_type'],
    ] as const) {
      expectFault(await server.call('GET', `/trace/sessions?${query}`), ['query', name], type)
    }
  })
})

describe('what is no trace session', () => {
  it('is not found', async () => {
    for (const id of ['none', '%00', '%7C', '__proto__', 'x'.repeat(500)]) {
      for (const answer of [
        await server.call('GET', `/trace/sessions/${id}`),
        await close(id),
        await append(id, 'run-7'),
      ]) {
        expectProblem(answer, 'trace.session_not_found', 404)
        expect(answer.body['session_id']).toBe(echoed(decodeURIComponent(id)))
      }
    }
  })

  it('is refused', async () => {
    const { id } = await open()
    for (const [json, member, type] of [
      [{ label: 7 }, 'label', 'string_type'],
      [{ label: null }, 'label', 'string_type'],
      [{ label: 'x'.repeat(256) }, 'label', 'string_too_long'],
      [{ agent: {} }, 'agent', 'string_type'],
      [{ agent: 'x'.repeat(129) }, 'agent', 'string_too_long'],
    ] as const) {
      expectFault(await server.call('POST', '/trace/sessions', { json }), ['body', member], type)
    }
    for (const [traceId, type] of [
      [undefined, 'missing'],
      [null, 'string_type'],
      [7, 'string_type'],
      ['', 'string_too_short'],
      ['a|b', 'string_pattern'],
      ['a\u0000', 'string_pattern'],
      ['x'.repeat(257), 'string_too_long'],
    ] as const) {
      expectFault(await append(id, traceId), ['body', 'trace_id'], type)
    }
    expectFault(await server.call('POST', '/trace/sessions', { body: '[]' }), ['body'], 'object_type')
    expectFault(await server.call('PUT', `/trace/sessions/${id}/append`), ['body'], 'missing')
    const lone = await server.call('POST', '/trace/sessions', { body: '{"label":"\\udfff"}' })
    expectFault(lone, ['body', 'label'], 'unicode_invalid')
    expect(await get(id)).toMatchObject({ trace_ids: [id] })
  })
})
