import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { expectFault, expectProblem } from '../expectations.fixture.ts'
import { startTestServer, type TestServer } from '../test-server.fixture.ts'

const NOW = '2026-02-20T00:30:00.000Z'

let server: TestServer
let contributorId: string
beforeEach(async () => {
  server = await startTestServer()
  contributorId = await register('n1')
})
afterEach(() => server.close())

const register = async (nodeId: string): Promise<string> => {
  const json = { node_id: nodeId, name: 'Ann', role: 'curator' }
  return String((await server.call('POST', '/contributors/register', { json })).body['id'])
}

const submit = (json: object = {}, headers: Readonly<Record<string, string>> = {}) =>
  server.call('POST', '/signals/submit', {
    json: { event_type: 'signal.curator.v1', node_id: 'n1', ...json },
    headers,
  })

const stored = async (called: { readonly body: Record<string, unknown> }) => {
  const record = await server.log.get(String(called.body['event_id']))
  if (record === null) throw new Error('nothing was stored')
  return record
}

const total = async () => (await server.call('GET', '/signals')).body['total']

describe('a submission', () => {
  it('stores the signal and who is behind it, one after the other', async () => {
    const payload = {
      symbol: 'BTC',
      direction: 'bullish',
      conviction: 7.5,
      rationale: 'x',
      own: { deep: [1, null] },
    }
    const { seq } = await server.log.head()
    const answer = await submit({ payload, source: ' operator:telegram ' }, { 'x-trace-id': 't-1' })
    expect([answer.status, answer.body]).toEqual([
      200,
      { event_id: expect.any(String), contributor_id: contributorId },
    ])
    expect(answer.headers.get('idempotency-replayed')).toBeNull()
    const [signal, attribution, audit] = await server.log.read({ after: seq, order: 'asc', limit: 10 })
    expect(signal).toMatchObject({
      seq: seq + 1,
      id: answer.body['event_id'],
      type: 'signal.curator.v1',
      ts: NOW,
      source: 'operator:telegram',
      traceId: 't-1',
      dedupeKey: null,
    })
    expect(JSON.parse(signal?.payload ?? '')).toEqual(payload)
    expect(attribution).toMatchObject({ seq: seq + 2, type: 'attribution.recorded.v1', traceId: 't-1' })
    expect(JSON.parse(attribution?.payload ?? '')).toMatchObject({
      signal_id: signal?.id,
      contributor_id: contributorId,
      node_id: 'n1',
      received_at: NOW,
    })
    expect(audit).toMatchObject({ seq: seq + 3, type: 'system.audit.v1', traceId: 't-1' })
    const listed = (await server.call('GET', '/signals')).body['items'] as unknown[]
    expect(listed).toMatchObject([{ id: signal?.id, payload, source: 'operator:telegram' }])
  })

  it('takes the node for its source if none is named', async () => {
    for (const source of [undefined, null, '', '   ', ' \n\t ']) {
      expect(await stored(await submit(source === undefined ? {} : { source }))).toMatchObject({
        source: 'n1',
      })
    }
  })

  it('keeps a payload as it is, whatever its members are called', async () => {
    const payload =
      '{"__proto__":{"polluted":true},"constructor":1,"signal_id":"x","html":"<script>alert(1)</script>",' +
      '"rationale":"a|b\\u0000\\u001f","sql":"\'; DROP TABLE events; --","symbol":"btc","ünï":"😀"}'
    const answer = await server.call('POST', '/signals/submit', {
      body: `{"event_type":"signal.curator.v1","node_id":"n1","payload":${payload}}`,
    })
    expect(answer.status).toBe(200)
    const { payload: text } = await stored(answer)
    expect(JSON.parse(text)).toEqual(JSON.parse(payload))
    expect(text).toContain('"__proto__":{"polluted":true}')
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    expect((await server.call('GET', '/signals')).text).toContain(text)
  })

  it('may say little: an empty payload, or none', async () => {
    expect((await stored(await submit({ payload: {} }))).payload).toBe('{}')
    expect((await stored(await submit())).payload).toBe('{}')
    for (const conviction of [0, 10]) {
      expect((await submit({ payload: { conviction } })).status).toBe(200)
    }
  })

  it('is stored with its time in one form', async () => {
    for (const [ts, written] of [
      ['2026-02-20T02:29:58+02:00', '2026-02-20T00:29:58.000Z'],
      ['2026-02-20T00:29:58', '2026-02-20T00:29:58.000Z'],
      ['2026-02-20 00:29:58.123456Z', '2026-02-20T00:29:58.123Z'],
      ['2026-02-19', '2026-02-19T00:00:00.000Z'],
      ['1970-01-01', '1970-01-01T00:00:00.000Z'],
      ['2026-02-20T00:31:00Z', '2026-02-20T00:31:00.000Z'],
      ['2026-02-20T00:35:00.000Z', '2026-02-20T00:35:00.000Z'],
    ]) {
      expect(await stored(await submit({ ts })), ts).toMatchObject({ ts: written, recordedAt: NOW })
    }
    expect((await server.call('GET', '/integrity?mode=full')).body).toMatchObject({ ok: true })
  })

  it('is refused for its type first, then for its author', async () => {
    for (const event_type of [
      'brain.cycle.v1',
      'signal.nope.v1',
      'signal.curator.v2',
      '',
      ' signal.curator.v1',
    ]) {
      for (const node_id of ['n1', 'nobody']) {
        const answer = await submit({ event_type, node_id })
        expectProblem(answer, 'signal.invalid_type', 400)
        expect(answer.body['event_type']).toBe(event_type)
      }
    }
    const unknown = await submit({ node_id: '<b>nobody</b>' })
    expectProblem(unknown, 'contributor.not_found', 404)
    expect(unknown.body['node_id']).toBe('<b>nobody</b>')
    await server.call('DELETE', `/contributors/${contributorId}`)
    expectProblem(await submit(), 'contributor.not_found', 404)
    expect(await total()).toBe(0)
  })
})

describe('a repeated submission', () => {
  const KEY = { 'idempotency-key': 'k-1' }

  it('is another one without a key', async () => {
    const [one, other] = [await submit(), await submit()]
    expect(one.body['event_id']).not.toBe(other.body['event_id'])
    expect(await total()).toBe(2)
  })

  it('is the first one with the same key and body, and writes nothing', async () => {
    const said = { payload: { symbol: 'BTC', b: 1, a: 2 }, source: 'x' }
    const first = await submit(said, KEY)
    expect(await stored(first)).toMatchObject({ dedupeKey: `submit:${contributorId}:k-1` })
    const { seq } = await server.log.head()
    server.testClock.advance(60_000)
    for (const again of [
      await submit(said, KEY),
      await submit({ ...said, dedupe_key: 'k-1' }),
      await submit({ ...said, dedupe_key: 'k-1' }, KEY),
      await submit({ source: 'x', payload: { a: 2, b: 1, symbol: 'BTC' } }, KEY),
    ]) {
      expect([again.status, again.body]).toEqual([200, first.body])
      expect(again.headers.get('idempotency-replayed')).toBe('true')
    }
    expect((await server.log.head()).seq).toBe(seq)
    expect(await total()).toBe(1)
  })

  it('is refused with another body', async () => {
    const first = await submit({ payload: { symbol: 'BTC' } }, KEY)
    server.testClock.advance(60_000)
    for (const other of [
      { payload: { symbol: 'ETH' } },
      {},
      { payload: { symbol: 'BTC' }, source: 'other' },
      { payload: { symbol: 'BTC' }, ts: '2026-02-20T00:00:00Z' },
    ]) {
      const answer = await submit(other, KEY)
      expectProblem(answer, 'idempotency.conflict', 409)
      expect(answer.body['event_id']).toBe(first.body['event_id'])
    }
    expect(await total()).toBe(1)
  })

  it('is the same if it means the same, however it is written', async () => {
    const first = await submit({ ts: '2026-02-20T00:00:00Z', payload: { n: 1 } }, KEY)
    for (const again of [
      { ts: '2026-02-20T02:00:00.000+02:00', payload: { n: 1 } },
      { ts: '2026-02-20', payload: { n: 1.0 } },
      { ts: '2026-02-20T00:00:00Z', source: null, payload: { n: 1 } },
      { ts: '2026-02-20T00:00:00Z', source: '  ', payload: { n: 1 }, unknown_member: 1 },
    ]) {
      const answer = await submit(again, KEY)
      expect([answer.status, answer.body], JSON.stringify(again)).toEqual([200, first.body])
    }
    for (const other of [
      { payload: { n: 1 } },
      { ts: '2026-02-20T00:00:00.001Z', payload: { n: 1 } },
      { ts: '2026-02-20T00:00:00Z', payload: { n: '1' } },
      { ts: '2026-02-20T00:00:00Z', payload: { n: 1, more: null } },
    ]) {
      expectProblem(await submit(other, KEY), 'idempotency.conflict', 409)
    }
    expect(await total()).toBe(1)
  })

  it('is refused for its faults, type and author before its key is looked at', async () => {
    await submit({}, KEY)
    expect((await submit({ payload: { conviction: 11 } }, KEY)).status).toBe(422)
    expectProblem(await submit({ event_type: 'signal.nope.v1' }, KEY), 'signal.invalid_type', 400)
    expectProblem(await submit({ node_id: 'nobody' }, KEY), 'contributor.not_found', 404)
  })

  it('is a new one of another contributor', async () => {
    const other = await register('n2')
    const first = await submit({}, KEY)
    const second = await submit({ node_id: 'n2' }, KEY)
    expect(second.body).toMatchObject({ contributor_id: other })
    expect(second.body['event_id']).not.toBe(first.body['event_id'])
  })

  it('is stored once, however many come at the same time', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => submit({ payload: { a: 1 } }, KEY)))
    expect(new Set(answers.map(({ body }) => body['event_id'])).size).toBe(1)
    expect(answers.filter(({ headers }) => headers.get('idempotency-replayed') === null)).toHaveLength(1)
    expect(await total()).toBe(1)
  })

  it('needs a key that is one', async () => {
    const header = ['header', 'idempotency-key']
    expectFault(await submit({}, { 'idempotency-key': 'a|b' }), header, 'string_pattern')
    expectFault(await submit({}, { 'idempotency-key': 'x'.repeat(201) }), header, 'string_too_long')
    expectFault(await submit({ dedupe_key: 'other' }, KEY), ['body', 'dedupe_key'], 'conflict')
    expect((await submit({}, { 'idempotency-key': '' })).status).toBe(200)
    expect((await submit({}, { 'idempotency-key': 'x'.repeat(200) })).status).toBe(200)
    const utf8 = Buffer.from('schlüssel').toString('latin1')
    const named = await submit({}, { 'idempotency-key': utf8 })
    expect(await stored(named)).toMatchObject({ dedupeKey: `submit:${contributorId}:schlüssel` })
  })
})
