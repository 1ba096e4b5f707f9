import { timestampOf } from '../../../core/shared/brand.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { echoed } from '../../../core/shared/echo.ts'
import { appendTo, type Said } from '../../../../test/records.fixture.ts'
import { expectProblem } from '../expectations.fixture.ts'
import { startTestServer, type TestServer } from '../test-server.fixture.ts'

const NOW = timestampOf('2026-02-20T00:30:00.000Z')

let server: TestServer
beforeEach(async () => {
  server = await startTestServer()
  const json = { name: 'p1', domain: 'onchain', endpoint: 'https://example.com/x' }
  await server.call('POST', '/producers/register', { json })
})
afterEach(() => server.close())

const feedback = async (json?: object, producer = 'p1') => {
  const options = json === undefined ? {} : { json }
  const { status, body } = await server.call('POST', `/producers/${producer}/feedback`, options)
  expect(status).toBe(200)
  return body
}

const signals = async (count: number, source = 'p1'): Promise<readonly string[]> => {
  const { seq } = await server.log.head()
  const say = (at: number): Said => ({
    type: 'signal.onchain.v1',
    source,
    ts: NOW,
    recordedAt: NOW,
    payload: { symbol: 'BTC', score: at - seq },
  })
  return (await appendTo(server.log, count, say)).map(({ id }) => id)
}

const NOTHING = { signals_evaluated: 0, hit_rate: 0, top_miss: [] }

describe('feedback on a producer', () => {
  it('is only a report without a word on a signal', async () => {
    const { seq } = await server.log.head()
    const report = {
      producer_id: 'p1',
      window_hours: 24,
      ...NOTHING,
      accepted: false,
      event_id: null,
      matched: false,
    }
    expect(await feedback()).toEqual(report)
    expect(await feedback({})).toEqual(report)
    expect(await feedback({ window_hours: 720, other: 1 })).toEqual({ ...report, window_hours: 720 })
    expect((await server.log.head()).seq).toBe(seq)
  })

  it('is recorded, with whether it is about a signal of this producer', async () => {
    const answer = await feedback({ signal_id: 'x', outcome: 'profit' })
    expect(answer).toEqual({
      producer_id: 'p1',
      window_hours: 24,
      ...NOTHING,
      accepted: true,
      event_id: expect.any(String),
      matched: false,
    })
    const events = await server.log.read({ types: ['learning.feedback'], order: 'asc', limit: 10 })
    expect(events.map(({ id }) => id)).toEqual([answer['event_id']])
    expect(JSON.parse(events[0]?.payload ?? '')).toEqual({
      producer_id: 'p1',
      signal_id: 'x',
      outcome: 'profit',
      pnl: null,
      note: null,
      matched: false,
      signal_type: null,
      score: null,
      submitted_by: 'api',
      contributor_id: null,
      counted: false,
      weight: 0,
    })
    const [mine] = await signals(1)
    const [theirs] = await signals(1, 'p2')
    expect(await feedback({ signal_id: mine, correct: false, pnl: -2, note: '<i>|' })).toMatchObject({
      matched: true,
      signals_evaluated: 1,
      hit_rate: 0,
    })
    expect(await feedback({ signal_id: theirs, outcome: 'loss' })).toMatchObject({
      matched: false,
      signals_evaluated: 1,
    })
    const started = (await server.log.read({ order: 'asc', limit: 1 }))[0]?.id
    expect(await feedback({ signal_id: started, outcome: 'loss' })).toMatchObject({ matched: false })
  })

  it('may be any single word', async () => {
    for (const json of [
      { outcome: 'no_fill' },
      { correct: true },
      { pnl: 0 },
      { note: '' },
      { signal_id: 'x' },
    ]) {
      expect(await feedback(json)).toMatchObject({ accepted: true, matched: false, signals_evaluated: 0 })
    }
  })

  it('adds up to a report, with the strongest misses first', async () => {
    const ids = await signals(15)
    for (const [index, signal_id] of ids.entries()) {
      const outcome = index < 3 ? 'profit' : index === 3 ? 'breakeven' : 'loss'
      await feedback({ signal_id, outcome })
    }
    // An order that never filled says nothing, and the newest word counts.
    await feedback({ signal_id: ids[14], outcome: 'no_fill' })
    const report = await feedback({ signal_id: ids[0], outcome: 'unknown' })
    expect(report).toMatchObject({ signals_evaluated: 13, hit_rate: 0.1538 })
    expect((report['top_miss'] as { score: number }[]).map(({ score }) => score)).toEqual([
      14, 13, 12, 11, 10, 9, 8, 7, 6, 5,
    ])
    expect((report['top_miss'] as unknown[])[0]).toEqual({
      signal_id: ids[13],
      signal_type: 'signal.onchain.v1',
      score: 14,
      outcome: 'loss',
    })
  })

  it('looks back as far as it is asked to', async () => {
    const [one = '', other = ''] = await signals(2)
    await feedback({ signal_id: one, outcome: 'profit' })
    server.testClock.advance(2 * 3_600_000)
    await feedback({ signal_id: other, outcome: 'loss' })
    expect(await feedback({ window_hours: 1 })).toMatchObject({ signals_evaluated: 1, hit_rate: 0 })
    expect(await feedback({ window_hours: 2 })).toMatchObject({ signals_evaluated: 2, hit_rate: 0.5 })
  })

  it('is taken for everybody who can be meant', async () => {
    const contributor = { node_id: 'n1', name: 'Ann', role: 'curator' }
    await server.call('POST', '/contributors/register', { json: contributor })
    const json = { event_type: 'signal.curator.v1', node_id: 'n1', source: 'operator:telegram' }
    const { body } = await server.call('POST', '/signals/submit', { json })
    await signals(1, 'retired')
    for (const producer of ['technical-analysis', 'retired', 'operator:telegram']) {
      expect(await feedback({}, producer)).toMatchObject({ producer_id: producer })
    }
    const said = { signal_id: body['event_id'], outcome: 'profit' }
    expect(await feedback(said, 'n1')).toMatchObject({ matched: true, hit_rate: 1 })
    expect(await feedback(said, 'operator:telegram')).toMatchObject({ matched: false })
  })

  it('is not for strangers', async () => {
    for (const id of ['none', '%00', '%7C', '__proto__', 'x'.repeat(500)]) {
      const answer = await server.call('POST', `/producers/${id}/feedback`, { json: { outcome: 'profit' } })
      expectProblem(answer, 'producer.not_found', 404)
      expect(answer.body['name']).toBe(echoed(decodeURIComponent(id)))
    }
    expect(await server.log.count('learning.feedback')).toBe(0)
  })

  it('is weak evidence on a call that the market cannot answer, once, and changes no score', async () => {
    const json = { node_id: 'ann', name: 'Ann', role: 'curator' }
    const { id } = (await server.call('POST', '/contributors/register', { json })).body
    const submit = {
      event_type: 'signal.curator.v1',
      node_id: 'ann',
      payload: { symbol: 'BTC', direction: 'bullish', conviction: 8 },
    }
    const { event_id: signalId } = (await server.call('POST', '/signals/submit', { json: submit })).body
    const scored = async () => (await server.call('GET', `/contributors/${String(id)}/score`)).body
    const before = await scored()
    await feedback({ signal_id: signalId, outcome: 'profit' }, 'ann')
    const after = await scored()
    expect(after['karma']).toBeCloseTo(50 + (50 * 0.25) / 20.25, 9)
    expect(after).toMatchObject({ score: before['score'], signals_resolved: 0, total_karma_usd: 0 })
    await feedback({ signal_id: signalId, outcome: 'loss' }, 'ann')
    expect((await scored())['karma']).toBe(after['karma'])
    const events = await server.log.read({ types: ['learning.feedback'], order: 'asc', limit: 10 })
    expect(events.map(({ payload }) => (JSON.parse(payload) as { counted: boolean }).counted)).toEqual([
      true,
      false,
    ])
  })
})
