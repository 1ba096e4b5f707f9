import { timestampOf } from '../../../core/shared/brand.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { echoed } from '../../../core/shared/echo.ts'
import { appendTo } from '../../../../test/records.fixture.ts'
import { expectFault, expectProblem } from '../expectations.fixture.ts'
import { startTestServer, type TestServer } from '../test-server.fixture.ts'

const NOW = timestampOf('2026-02-20T00:30:00.000Z')

let server: TestServer
beforeEach(async () => {
  server = await startTestServer()
})
afterEach(() => server.close())

const register = (json: object) =>
  server.call('POST', '/contributors/register', {
    json: { node_id: 'n1', name: 'Ann', role: 'curator', ...json },
  })
const registered = async (nodeId: string, json: object = {}) =>
  String((await register({ node_id: nodeId, ...json })).body['id'])
const submit = async (nodeId: string, payload: object = {}) => {
  const json = { event_type: 'signal.curator.v1', node_id: nodeId, payload }
  return String((await server.call('POST', '/signals/submit', { json })).body['event_id'])
}
const list = async (path = '') =>
  (await server.call('GET', `/contributors${path}`)).body as unknown as object[]
const score = async (id: string) => (await server.call('GET', `/contributors/${id}/score`)).body

/** Records an accepted signal, as a brain cycle would. */
const accept = (signalId: string) =>
  appendTo(server.log, 1, () => ({
    type: 'brain.conviction.v1',
    ts: NOW,
    recordedAt: NOW,
    payload: { signal_ids: [signalId], inputs: [{ signal_id: signalId, share: 1 }] },
  }))

describe('contributors', () => {
  it('are one on a fresh server: its operator', async () => {
    const fresh = await list('/')
    expect(fresh).toEqual([
      {
        id: expect.any(String),
        node_id: server.engine.nodeId,
        name: 'local-operator',
        role: 'operator',
        registered_at: NOW,
        metadata: { public_key: expect.stringMatching(/^[0-9a-f]{64}$/) },
      },
    ])
    expect(await list()).toEqual(fresh)
  })

  it('register once per node, and are listed oldest first', async () => {
    const answer = await register({ extra: 'ignored' })
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        id: expect.any(String),
        node_id: 'n1',
        name: 'Ann',
        role: 'curator',
        registered_at: NOW,
        metadata: {},
      },
    ])
    const again = await register({ name: 'Bob' })
    expectProblem(again, 'contributor.duplicate', 409)
    expect(again.body['node_id']).toBe('n1')
    server.testClock.advance(1000)
    await register({ node_id: 'a' })
    await register({ node_id: '__proto__' })
    expect(await list()).toMatchObject([
      { name: 'local-operator' },
      { node_id: 'n1' },
      { node_id: 'a' },
      { node_id: '__proto__' },
    ])
  })

  it('are found and removed by id, not by node', async () => {
    const { body } = await register({ metadata: { a: [1, { b: '<i>|' }] } })
    const id = String(body['id'])
    expect((await server.call('GET', `/contributors/${id}`)).body).toEqual(body)
    for (const unknown of ['n1', 'none', '%00', '__proto__', 'x'.repeat(1000), '%F0%9F%98%80']) {
      for (const [method, path] of [
        ['GET', ''],
        ['DELETE', ''],
        ['GET', '/score'],
        ['GET', '/attestation'],
      ] as const) {
        const answer = await server.call(method, `/contributors/${unknown}${path}`)
        expectProblem(answer, 'contributor.not_found', 404)
        expect(answer.body['id']).toBe(echoed(decodeURIComponent(unknown)))
      }
    }
    const removed = await server.call('DELETE', `/contributors/${id}`)
    expect([removed.status, removed.body]).toEqual([200, { removed: id }])
    for (const method of ['GET', 'DELETE']) {
      expectProblem(await server.call(method, `/contributors/${id}`), 'contributor.not_found', 404)
    }
    expect(await list()).toHaveLength(1)
    expect(await registered('n1')).not.toBe(id)
  })

  it('leave their signals behind', async () => {
    const id = await registered('n1')
    const signalId = await submit('n1', { symbol: 'BTC' })
    await server.call('DELETE', `/contributors/${id}`)
    expect((await server.call('GET', '/signals')).body).toMatchObject({ total: 1, items: [{ id: signalId }] })
    expect((await server.call('GET', `/signals/${signalId}/attribution`)).body).toMatchObject({
      contributor_id: id,
      contributor: { node_id: 'n1' },
    })
  })
})

describe('the score of a contributor', () => {
  it('begins at nothing, and one fresh signal makes it 10', async () => {
    const id = await registered('n1')
    expect(await score(id)).toEqual({
      contributor_id: id,
      node_id: 'n1',
      name: 'Ann',
      signals_submitted: 0,
      signals_accepted: 0,
      signals_profitable: 0,
      signals_resolved: 0,
      hit_rate: 0,
      acceptance_rate: 0,
      brier_score: 0.25,
      avg_conviction: 0,
      total_karma_usd: 0,
      score: 0,
      last_active: '',
      streak: 0,
      factors: {
        hit_rate: { value: 0, weight: 0.35, contribution: 0 },
        calibration: { value: 0, weight: 0.2, contribution: 0 },
        volume: { value: 0, weight: 0.2, contribution: 0 },
        consistency: { value: 0, weight: 0.15, contribution: 0 },
        recency: { value: 0, weight: 0.1, contribution: 0 },
      },
      inputs: {
        weighted_hits: 0,
        weights: 0,
        brier_sum: 0,
        evidence: 1 / 11,
        own: 0,
        edge: 0,
        edge_error: 1,
        days_since_active: null,
        gated: false,
      },
      karma: 50,
      trust: 1,
      as_of: NOW,
    })
    await submit('n1', { conviction: 7 })
    server.testClock.advance(60_000)
    await submit('n1', { conviction: 8 })
    await submit('n1')
    expect(await score(id)).toMatchObject({
      signals_submitted: 3,
      signals_accepted: 0,
      avg_conviction: 7.5,
      score: 10,
      last_active: '2026-02-20T00:31:00.000Z',
    })
  })

  it('grows when a cycle uses a signal', async () => {
    const id = await registered('n1')
    const signalId = await submit('n1', { symbol: 'BTC', conviction: 8 })
    await accept(signalId)
    await accept(signalId)
    const after = await score(id)
    expect(after).toMatchObject({ signals_accepted: 1, acceptance_rate: 1, streak: 1 })
    expect(after['score']).toBeGreaterThan(10)
  })

  it('counts a signal that a real cycle used, and so does its attribution', async () => {
    const id = await registered('n1')
    const signalId = await submit('n1', { symbol: 'BTC', direction: 'bullish', conviction: 8 })
    const inert = await submit('n1', { direction: 'bullish', conviction: 8 })
    for (const _ of 'ab') expect((await server.call('POST', '/brain/run')).status).toBe(200)
    expect(await score(id)).toMatchObject({ signals_submitted: 2, signals_accepted: 1 })
    const accepted = async (signal: string) =>
      (await server.call('GET', `/signals/${signal}/attribution`)).body['accepted']
    expect([await accepted(signalId), await accepted(inert)]).toEqual([true, false])
  })

  it('is nothing for those who are hardly ever used', async () => {
    const id = await registered('n1')
    await accept(await submit('n1', { symbol: 'BTC' }))
    for (let index = 0; index < 10; index += 1) await submit('n1')
    expect(await score(id)).toMatchObject({ score: 0, streak: 0, hit_rate: 0, signals_submitted: 11 })
  })
})

describe('the leaderboard', () => {
  it('has the best first, and so many as are asked for', async () => {
    for (const node of ['n1', 'n2', 'n3', 'n4']) await registered(node)
    await submit('n2')
    for (const _ of 'abc') await submit('n3')
    await accept(await submit('n4', { symbol: 'BTC' }))
    const nodes = async (query = '') =>
      (await list(`/leaderboard${query}`)).map((entry) => (entry as { node_id: string }).node_id)
    const idle = [server.engine.nodeId, 'n1']
    expect(await nodes()).toEqual(['n4', 'n3', 'n2', ...idle])
    expect(await nodes('?limit=1')).toEqual(['n4'])
    expect(await nodes('?limit=200')).toHaveLength(5)
    const scores = (await list('/leaderboard')).map((entry) => (entry as { score: number }).score)
    expect(scores).toEqual(scores.toSorted((one, other) => other - one))
    for (let index = 0; index < 20; index += 1) await registered(`more-${index}`)
    expect(await nodes()).toHaveLength(20)
  })

  it('refuses other limits', async () => {
    for (const [limit, type] of [
      ['0', 'greater_than_equal'],
      ['201', 'less_than_equal'],
      ['x', 'int_type'],
      ['', 'int_type'],
      ['1.5', 'int_type'],
    ] as const) {
      expectFault(
        await server.call('GET', `/contributors/leaderboard?limit=${limit}`),
        ['query', 'limit'],
        type,
      )
    }
  })
})

describe('an attestation', () => {
  const attested = { eas: { uid: '0x1', attestation: { a: 1, __proto__: null } } }

  it('is what the metadata says', async () => {
    const id = await registered('n1', { metadata: attested })
    const other = await registered('n2', { metadata: { eas: { attestation: { b: 2 } } } })
    const named = await registered('n3', { metadata: { eas: { uid: '0x3', attestation: 'text' } } })
    expect((await server.call('GET', `/contributors/${id}/attestation`)).body).toEqual({
      contributor_id: id,
      uid: '0x1',
      attestation: { a: 1 },
    })
    expect((await server.call('GET', `/contributors/${other}/attestation`)).body).toMatchObject({
      uid: null,
      attestation: { b: 2 },
    })
    expect((await server.call('GET', `/contributors/${named}/attestation`)).body).toMatchObject({
      uid: '0x3',
      attestation: {},
    })
    expect(await list('/attestations')).toEqual([
      { contributor_id: id, node_id: 'n1', uid: '0x1' },
      { contributor_id: named, node_id: 'n3', uid: '0x3' },
    ])
  })

  it('is missed where there is none', async () => {
    let count = 0
    for (const metadata of [
      {},
      { eas: null },
      { eas: [] },
      { eas: {} },
      { eas: { uid: '' } },
      { eas: { uid: 7 } },
    ]) {
      const id = await registered(`n${(count += 1)}`, { metadata })
      const answer = await server.call('GET', `/contributors/${id}/attestation`)
      expectProblem(answer, 'contributor.attestation_not_found', 404)
      expect(answer.body['id']).toBe(id)
    }
    expect(await list('/attestations')).toEqual([])
  })
})
