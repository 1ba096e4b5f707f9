import { timestampOf } from '../../../core/shared/brand.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { echoed } from '../../../core/shared/echo.ts'
import { appendTo, type Said } from '../../../../test/records.fixture.ts'
import { expectProblem } from '../expectations.fixture.ts'
import { completed } from './attribution.fixture.ts'
import { startTestServer, type TestServer } from '../test-server.fixture.ts'

const NOW = timestampOf('2026-02-20T00:30:00.000Z')
const LATER = timestampOf('2026-02-20T05:00:00.000Z')

let server: TestServer
let contributorId: string
let signalId: string
beforeEach(async () => {
  server = await startTestServer()
  const json = { node_id: 'n1', name: 'Ann', role: 'curator' }
  contributorId = String((await server.call('POST', '/contributors/register', { json })).body['id'])
  signalId = await submit({ symbol: 'BTC', conviction: 7.5 })
})
afterEach(() => server.close())

const submit = async (payload: object): Promise<string> => {
  const json = {
    event_type: 'signal.curator.v1',
    node_id: 'n1',
    source: 'operator:telegram',
    ts: '2026-02-20T00:29:58Z',
    payload,
  }
  return String((await server.call('POST', '/signals/submit', { json })).body['event_id'])
}

/** Straight into the log, as another part of the engine would. */
const append = (...said: readonly Said[]) => {
  let index = 0
  return appendTo(server.log, said.length, () => {
    index += 1
    return { recordedAt: LATER, ts: LATER, ...completed(said[index - 1] ?? {}) }
  })
}

const attribution = async (id = signalId) => (await server.call('GET', `/signals/${id}/attribution`)).body

const INPUT = { author: 'n1', domain: 'curator', quality: 1, evidence: 0.8, contribution: 0.08 }

const opened = (position_id: string, signal_ids: string[]): Said => ({
  type: 'execution.position_opened.v1',
  payload: { position_id, intent_id: 'i', signal_ids },
})
const closed = (position_id: string, realized_pnl: number, ts: string): Said => ({
  type: 'execution.position_closed.v1',
  ts,
  payload: { position_id, asset: 'BTC', realized_pnl },
})

describe('the attribution of a signal', () => {
  it('says who is behind it, and that nothing came of it yet', async () => {
    expect(await attribution()).toEqual({
      signal_id: signalId,
      type: 'signal.curator.v1',
      domain: 'curator',
      source: 'operator:telegram',
      producer_id: 'n1',
      contributor_id: contributorId,
      contributor: { id: contributorId, node_id: 'n1', name: 'Ann', role: 'curator' },
      score: 7.5,
      emitted_at: '2026-02-20T00:29:58.000Z',
      received_at: NOW,
      accepted: false,
      linked_trade_ids: [],
      outcome: null,
      feedback: null,
      call: null,
      uses: [],
      trades: [],
    })
  })

  it('stays after the contributor was removed, and after the node came back as another', async () => {
    const before = await attribution()
    await server.call('DELETE', `/contributors/${contributorId}`)
    expect(await attribution()).toEqual(before)
    const json = { node_id: 'n1', name: 'Bob', role: 'agent' }
    await server.call('POST', '/contributors/register', { json })
    expect(await attribution()).toEqual(before)
  })

  it('knows signals without a contributor by their source', async () => {
    const [ta, nameless] = await append(
      { type: 'signal.ta.rsi.v1', source: 'p1', payload: { symbol: 'BTC', score: -3, magnitude: 5 } },
      { type: 'signal.odd.v1', source: null, payload: { score: 'much', magnitude: 5 } },
    )
    expect(await attribution(ta?.id)).toMatchObject({
      domain: 'ta',
      source: 'p1',
      producer_id: 'p1',
      contributor_id: null,
      contributor: null,
      score: -3,
      emitted_at: LATER,
      received_at: LATER,
    })
    expect(await attribution(nameless?.id)).toMatchObject({ source: null, producer_id: null, score: 5 })
  })

  it('is accepted once a cycle gave it a share', async () => {
    const conviction = (share: number): Said => ({
      type: 'brain.conviction.v1',
      payload: {
        signal_ids: [signalId],
        inputs: [
          { ...INPUT, signal_id: signalId, share },
          { ...INPUT, signal_id: 'x', share: 1 },
        ],
      },
    })
    await append(...Array.from({ length: 45 }, () => conviction(0)))
    expect(await attribution()).toMatchObject({ accepted: false })
    await append(conviction(0.2))
    expect(await attribution()).toMatchObject({ accepted: true })
  })

  it('has an outcome when all its trades are over', async () => {
    await append(opened('p-1', [signalId]), opened('p-2', ['other', signalId]), opened('p-3', ['other']))
    expect(await attribution()).toMatchObject({ linked_trade_ids: ['p-1', 'p-2'], outcome: null })
    await append(closed('p-2', 20.5, '2026-02-21T00:00:00.000Z'))
    expect(await attribution()).toMatchObject({ outcome: null })
    await append(closed('p-1', -8, '2026-02-20T12:00:00.000Z'), closed('p-3', 99, LATER))
    expect(await attribution()).toMatchObject({
      linked_trade_ids: ['p-1', 'p-2'],
      outcome: { pnl: 12.5, realized_at: '2026-02-21T00:00:00.000Z' },
    })
  })

  it('tells the whole story: the call, the cycles that used it, the trades and how they ended', async () => {
    const id = await submit({ symbol: 'BTC', direction: 'bullish', conviction: 8, horizon: '4h' })
    const open = await attribution(id)
    expect(open['call']).toEqual({
      call_id: expect.any(String),
      symbol: 'BTC',
      direction: 'bullish',
      probability: 0.9,
      horizon: '4h',
      due_at: '2026-02-20T04:30:00.000Z',
      ref_price: null,
      ref_sigma: null,
      status: 'open',
      resolved_at: null,
      resolved_by: null,
      exit_price: null,
      return_pct: null,
      band_pct: null,
      hit: null,
      base_rate: null,
      void_reason: null,
      measured: null,
    })
    const { call_id: callId } = open['call'] as { call_id: string }
    const input = { ...INPUT, signal_id: id, share: 0.4 }
    const [conviction, intent] = await append(
      {
        type: 'brain.conviction.v1',
        payload: {
          cycle_id: 'cycle-1',
          symbol: 'BTC',
          signal_ids: [id],
          inputs: [input],
          domain_scores: { curator: 0.9 },
          decision: { action: 'long', reasons: [] },
        },
      },
      {
        type: 'execution.trade_intent.v1',
        payload: { signal_ids: [id], attribution: [{ signal_id: id, weight: 0.25 }] },
      },
    )
    const measure = {
      exit_price: 104,
      return_pct: 0.04,
      band_pct: 0.004,
      hit: true,
      base_rate: 0.4,
      void_reason: null,
    }
    const trade = { position_id: 'p-9', intent_id: intent?.id ?? '', direction: 'long' }
    await append(
      { type: 'execution.position_opened.v1', payload: { ...trade, signal_ids: [id] } },
      {
        type: 'execution.position_closed.v1',
        payload: { position_id: 'p-9', asset: 'BTC', realized_pnl: 49.1, exit_reason: 'take_profit' },
      },
      {
        type: 'attribution.resolved.v1',
        payload: {
          call_id: callId,
          signal_ids: [id],
          resolved_by: 'trade',
          exit_price: 110,
          return_pct: 0.098,
          band_pct: 0.0022,
          hit: true,
          base_rate: 0.333333333,
          void_reason: null,
        },
      },
      {
        type: 'attribution.measured.v1',
        payload: {
          call_id: callId,
          producer_id: 'n1',
          contributor_id: contributorId,
          symbol: 'BTC',
          direction: 'bullish',
          horizon: '4h',
          due_at: '2026-02-20T04:30:00.000Z',
          ref_price: 100,
          ...measure,
        },
      },
    )
    expect(await attribution(id)).toMatchObject({
      accepted: true,
      linked_trade_ids: ['p-9'],
      outcome: { pnl: 49.1, realized_at: LATER },
      call: {
        status: 'resolved',
        hit: true,
        resolved_by: 'trade',
        resolved_at: LATER,
        return_pct: 0.098,
        measured: { at: LATER, ...measure },
      },
      uses: [
        {
          cycle_id: 'cycle-1',
          conviction_id: conviction?.id,
          at: LATER,
          symbol: 'BTC',
          action: 'long',
          share: 0.4,
          quality: 1,
          evidence: 0.8,
          contribution: 0.08,
        },
      ],
      trades: [
        { ...trade, weight: 0.25, opened_at: LATER, closed_at: LATER, pnl: 49.1, exit_reason: 'take_profit' },
      ],
    })
  })

  it('shows the newest feedback that is about it and states an outcome', async () => {
    const feedback = (json: object) => server.call('POST', '/producers/n1/feedback', { json })
    await feedback({ signal_id: signalId, outcome: 'loss', pnl: -4 })
    await feedback({ signal_id: signalId, correct: true, pnl: 12.5 })
    await feedback({ signal_id: signalId, note: 'just a word' })
    await server.call('POST', '/producers/operator:telegram/feedback', {
      json: { signal_id: signalId, outcome: 'breakeven' },
    })
    expect(await attribution()).toMatchObject({
      feedback: { outcome: 'profit', pnl: 12.5, at: NOW },
      outcome: null,
    })
  })

  it('does not believe signals that name other signals', async () => {
    const before = await attribution()
    const liar = { signal_id: signalId, signal_ids: [signalId], position_id: 'p-1', accepted: true }
    await submit({ ...liar, contributor_id: 'me', node_id: 'me' })
    await append({ type: 'signal.ta.v1', source: 'p1', payload: liar })
    expect(await attribution()).toEqual(before)
  })
})

describe('the attribution of nothing', () => {
  it('is not found', async () => {
    const started = (await server.log.read({ order: 'asc', limit: 1 }))[0]
    for (const id of [
      'none',
      started?.id ?? '',
      '%00',
      '%7C',
      'x'.repeat(2000),
      '..%2F..',
      "';--",
      '__proto__',
    ]) {
      const answer = await server.call('GET', `/signals/${id}/attribution`)
      expectProblem(answer, 'signal.not_found', 404)
      expect(answer.body['signal_id']).toBe(echoed(decodeURIComponent(id)))
    }
    expectProblem(
      await server.call('GET', `/signals/${signalId}/attribution`, { token: null }),
      'auth.missing_token',
      401,
    )
  })
})
