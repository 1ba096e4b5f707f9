import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { resultOf } from '../caller.fixture.ts'
import { eventIdOf, startWithAuthors } from './authors.fixture.ts'

type Furnished = Awaited<ReturnType<typeof startWithAuthors>>

let server: Furnished['server']
let tool: Furnished['tool']
let emit: Furnished['emit']
let call: Furnished['call']
beforeAll(async () => {
  ;({ server, tool, emit, call } = await startWithAuthors())
})
afterAll(() => server.close())

const headSeq = async (): Promise<number> => (await server.log.head()).seq

describe('emit_producer_signal', () => {
  it('stores a signal of a registered producer, with who is behind it', async () => {
    const before = await headSeq()
    const { value, structuredContent, isError } = resultOf(
      await emit({ payload: { symbol: 'BTC', whale_netflow: 5, extra: ['kept'] } }),
    )
    expect(isError).toBe(false)
    expect(value).toEqual(structuredContent)
    expect(value).toEqual({
      event_id: expect.any(String),
      producer_id: 'p1',
      signal_type: 'signal.onchain.v1',
      emitted_at: new Date(server.clock.now()).toISOString(),
    })
    const stored = await server.log.read({ after: before, order: 'asc', limit: 10 })
    expect(stored.map(({ type, source }) => [type, source])).toEqual([
      ['signal.onchain.v1', 'p1'],
      ['attribution.recorded.v1', 'p1'],
      ['system.audit.v1', 'api'],
    ])
    expect(stored[0]).toMatchObject({
      id: structuredContent['event_id'],
      payload: '{"extra":["kept"],"symbol":"BTC","whale_netflow":5}',
    })
  })

  it('takes at most 64 KB', async () => {
    const answer = await emit({ payload: { symbol: 'BTC', note: 'x'.repeat(64 * 1024) } })
    expect(answer.error).toMatchObject({
      code: -32_602,
      data: { errors: [{ loc: ['arguments', 'payload'] }] },
    })
    const fits = { symbol: 'BTC', note: 'x'.repeat(64 * 1024 - '{"note":"","symbol":"BTC"}'.length) }
    expect(resultOf(await emit({ payload: fits })).isError).toBe(false)
  })

  it('takes the time that was observed, in any form that is read', async () => {
    const answer = await emit({ ts: '2026-02-20T02:29:58+02:00' })
    expect(resultOf(answer).structuredContent['emitted_at']).toBe('2026-02-20T00:29:58.000Z')
  })

  it('stores an opinion for a contributor, and attributes it', async () => {
    const payload = { symbol: 'ETH', direction: 'bullish', conviction: 7, rationale: 'flows' }
    const signalId = eventIdOf(await emit({ producer_id: 'ann', signal_type: 'signal.curator.v1', payload }))
    const { value } = resultOf(await tool('get_signal_attribution', { signal_id: signalId }))
    expect(value).toMatchObject({
      signal_id: signalId,
      producer_id: 'ann',
      domain: 'curator',
      score: 7,
      contributor: { node_id: 'ann' },
      linked_trade_ids: [],
      outcome: null,
    })
  })

  it('takes types of its domain that carry no weight', async () => {
    const free = await emit({ signal_type: 'signal.onchain.rain.v2', payload: { mm: 3 } })
    expect(resultOf(free).isError).toBe(false)
  })

  it('does not speak for a built-in producer, and stores nothing', async () => {
    const before = await headSeq()
    for (const producer_id of ['technical-analysis', 'market-sentiment', 'curator-intel']) {
      const { value, isError } = resultOf(await emit({ producer_id, signal_type: 'signal.ta.v1' }))
      expect([value, isError]).toEqual([{ error: 'producer_reserved', producer_id }, true])
    }
    expect(await headSeq()).toBe(before)
  })

  it('stores once under one key, and never something else', async () => {
    const first = eventIdOf(await emit({ dedupe_key: 'k1' }))
    const before = await headSeq()
    expect(eventIdOf(await emit({ dedupe_key: 'k1' }))).toBe(first)
    const { value, isError, structuredContent } = resultOf(
      await emit({ dedupe_key: 'k1', payload: { symbol: 'ETH' } }),
    )
    expect(isError).toBe(true)
    expect([value, structuredContent]).toEqual([
      { error: 'idempotency_conflict', event_id: first },
      { error: 'idempotency_conflict', event_id: first },
    ])
    expect(await headSeq()).toBe(before)
  })

  it('knows its producers', async () => {
    const before = await headSeq()
    const { value, isError } = resultOf(await emit({ producer_id: 'nobody|\u0000' }))
    expect([value, isError]).toEqual([{ error: 'producer_not_found', producer_id: 'nobody| ' }, true])
    expect(await headSeq()).toBe(before)
  })

  it.each([
    ['no producer', { producer_id: undefined }],
    ['no type', { signal_type: undefined }],
    ['no payload', { payload: undefined }],
    ['a payload that is a list', { payload: [] }],
    ['a type of the engine', { signal_type: 'brain.cycle.v1' }],
    ['a type without version', { signal_type: 'signal.onchain' }],
    ['no member that the type requires', { payload: {} }],
    ['a member of another kind', { payload: { symbol: 'BTC', whale_netflow: '5' } }],
    ['a payload that is too large', { payload: { symbol: 'BTC', text: 'x'.repeat(65_536) } }],
    ['a payload that is too deep', { payload: { symbol: 'BTC', deep: nested(32) } }],
    ['no time', { ts: 'soon' }],
    ['a time that has not come', { ts: '2026-02-20T00:36:00Z' }],
    ['a key that may not be hashed', { dedupe_key: 'a|b' }],
    ['an empty key', { dedupe_key: '' }],
    ['an opinion of a producer', { signal_type: 'signal.curator.v1' }],
    ['a type of another domain', { signal_type: 'signal.ta.v1' }],
    ['a type of a domain that it does not have', { signal_type: 'signal.weather.v1' }],
    ['a measurement of a contributor', { producer_id: 'ann' }],
  ])('refuses %s, and stores nothing', async (_what, args) => {
    const before = await headSeq()
    const { error, result } = await emit(args)
    expect([result, error?.code]).toEqual([undefined, -32_602])
    expect(error?.message).toMatch(/\S/)
    expect(await headSeq()).toBe(before)
  })

  it('takes what is as deep and as far ahead as it may be', async () => {
    const deep = await emit({ payload: { symbol: 'BTC', deep: nested(31) }, ts: '2026-02-20T00:35:00Z' })
    expect(resultOf(deep).isError).toBe(false)
  })

  it('names every fault', async () => {
    const { error } = await emit({ producer_id: 1, signal_type: 'x' })
    expect(error?.message).toBe(
      'producer_id must be a string; signal_type must be a signal type such as signal.ta.v1',
    )
    expect(error?.data).toMatchObject({
      errors: [
        { loc: ['arguments', 'producer_id'], type: 'string_type' },
        { loc: ['arguments', 'signal_type'], type: 'string_pattern' },
      ],
    })
  })

  it('ties what it writes to the thread of its caller', async () => {
    const params = {
      name: 'emit_producer_signal',
      arguments: { producer_id: 'p1', signal_type: 'signal.onchain.v1', payload: { symbol: 'SOL' } },
    }
    const answer = await call('tools/call', params, { 'x-trace-id': 'thread-1' })
    const stored = await server.log.get(eventIdOf(answer.body))
    expect(stored?.traceId).toBe('thread-1')
  })
})

function nested(depth: number): unknown {
  return depth === 0 ? 1 : [nested(depth - 1)]
}
