import { beforeAll, expect, it } from 'vitest'
import { emit, eventsOf, register, registerProducer, submit, type EventItem } from './acts.ts'
import { newHome, startService, type RunningService } from './service.ts'
import { onDefaultStore } from './stores.ts'

interface Page {
  readonly items: readonly EventItem[]
  readonly total: number
}

onDefaultStore('signals', (store) => {
  let service: RunningService
  beforeAll(async () => {
    service = await startService(await newHome(), await store())
  })
  const signals = async (query = ''): Promise<Page> => (await service.call('GET', `/signals${query}`)).body
  const attributionOf = (id: string) => service.call('GET', `/signals/${id}/attribution`)

  it('there are none on a fresh server', async () => {
    expect(await signals()).toEqual({ items: [], limit: 100, offset: 0, total: 0 })
  })

  it.each([
    ['limit', '501'],
    ['limit', '0'],
    ['limit', 'abc'],
    ['limit', ''],
    ['offset', '-1'],
  ])('%s=%s is refused', async (name, value) => {
    expect((await service.call('GET', `/signals?${name}=${value}`)).body).toMatchObject({
      status: 422,
      code: 'request.invalid',
      errors: [{ loc: ['query', name] }],
    })
    expect((await service.call('GET', '/signals?limit=500')).status).toBe(200)
  })

  it('come newest first, in pages, with five members each', async () => {
    await register(service, 'n1')
    const ids: string[] = []
    for (const day of ['2026-02-20', '2026-02-18', '2026-02-19']) {
      const body = { event_type: 'signal.curator.v1', node_id: 'n1', ts: day, payload: { symbol: 'BTC' } }
      const answer = await service.call('POST', '/signals/submit', { body })
      ids.push((answer.body as { event_id: string }).event_id)
    }
    const [newest, oldest, second] = ids
    expect((await signals()).items.map(({ id }) => id)).toEqual([newest, second, oldest])
    expect(await signals('?limit=1&offset=1')).toEqual({
      items: [
        {
          id: second,
          type: 'signal.curator.v1',
          ts: '2026-02-19T00:00:00.000Z',
          source: 'n1',
          payload: { symbol: 'BTC' },
        },
      ],
      limit: 1,
      offset: 1,
      total: 3,
    })
  })

  it('can be asked for by domain', async () => {
    await registerProducer(service, 'p1', 'technical')
    await emit(service, 'p1', 'signal.ta.v1', { symbol: 'BTC' })
    expect((await signals()).total).toBe(4)
    const curated = await signals('?domain=curator')
    expect(curated.total).toBe(3)
    expect(new Set(curated.items.map(({ type }) => type))).toEqual(new Set(['signal.curator.v1']))
    for (const domain of ['%25', '%', 'Curator', 'cur', 'curator.v1', 'c%25']) {
      expect(await signals(`?domain=${domain}`)).toMatchObject({ items: [], total: 0 })
    }
  })

  it('are attributed to who is behind them', async () => {
    const contributorId = await register(service, 'n2')
    const body = {
      event_type: 'signal.curator.v1',
      node_id: 'n2',
      source: 'operator:telegram',
      payload: { symbol: 'BTC', direction: 'bullish', conviction: 7.5, rationale: 'because' },
    }
    const { event_id: id } = (await service.call('POST', '/signals/submit', { body })).body as {
      event_id: string
    }
    expect((await attributionOf(id)).body).toEqual({
      signal_id: id,
      type: 'signal.curator.v1',
      domain: 'curator',
      source: 'operator:telegram',
      producer_id: 'n2',
      contributor_id: contributorId,
      contributor: { id: contributorId, node_id: 'n2', name: 'Name of n2', role: 'curator' },
      score: 7.5,
      emitted_at: expect.any(String),
      received_at: expect.any(String),
      accepted: false,
      linked_trade_ids: [],
      outcome: null,
      feedback: null,
      call: expect.objectContaining({
        symbol: 'BTC',
        direction: 'bullish',
        probability: 0.875,
        status: 'open',
      }),
      uses: [],
      trades: [],
    })
  })

  it('what is no signal has no attribution', async () => {
    const [started] = await eventsOf(service, 'system.started')
    for (const id of ['none', started?.id ?? '']) {
      expect((await attributionOf(id)).body).toMatchObject({
        status: 404,
        code: 'signal.not_found',
        signal_id: id,
      })
    }
  })

  it('stay when their contributor is removed', async () => {
    const contributorId = await register(service, 'leaver')
    const id = await submit(service, 'leaver', { symbol: 'ETH' })
    const removed = await service.call('DELETE', `/contributors/${contributorId}`)
    expect(removed.body).toEqual({ removed: contributorId })
    for (const method of ['GET', 'DELETE']) {
      expect((await service.call(method, `/contributors/${contributorId}`)).body).toMatchObject({
        status: 404,
        code: 'contributor.not_found',
        id: contributorId,
      })
    }
    expect((await signals()).items.map((item) => item.id)).toContain(id)
    expect((await attributionOf(id)).body).toMatchObject({
      contributor_id: contributorId,
      contributor: { node_id: 'leaver' },
    })
  })
})
