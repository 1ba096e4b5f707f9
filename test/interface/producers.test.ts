import { beforeAll, expect, it } from 'vitest'
import { emit, eventsOf } from './acts.ts'
import { newHome, startService, type RunningService } from './service.ts'
import { onDefaultStore } from './stores.ts'

const P1 = { name: 'p1', domain: 'onchain', endpoint: 'https://example.com/x' }

onDefaultStore('producers', (store) => {
  let service: RunningService
  beforeAll(async () => {
    service = await startService(await newHome(), await store())
  })
  const post = (fields: object) => service.call('POST', '/producers/register', { body: { ...P1, ...fields } })
  const names = async (): Promise<readonly string[]> => {
    const { producers }: { producers: readonly { name: string }[] } = (
      await service.call('GET', '/producers/')
    ).body
    return producers.map(({ name }) => name)
  }

  it('nobody is registered on a fresh server', async () => {
    expect((await service.call('GET', '/producers/')).body).toEqual({ producers: [] })
  })

  it('are registered once, and listed by name', async () => {
    const registered = await post({})
    expect(registered.status).toBe(200)
    expect(registered.body).toEqual({
      ...P1,
      id: 'p1',
      schedule: '*/15 * * * *',
      registered_at: expect.any(String),
    })
    expect((await post({})).body).toMatchObject({ status: 409, code: 'producer.duplicate', name: 'p1' })
    expect((await post({ name: 'technical-analysis' })).body).toMatchObject({ code: 'producer.duplicate' })
    for (const name of ['p3', 'p2']) expect((await post({ name })).status).toBe(200)
    expect(await names()).toEqual(['p1', 'p2', 'p3'])
  })

  it.each([
    [{ name: undefined }, 'name'],
    [{ name: 'p4', endpoint: 'ftp://x' }, 'endpoint'],
    [{ name: 'p4', endpoint: 'text' }, 'endpoint'],
    [{ name: 'p4', schedule: '61 * * * *' }, 'schedule'],
    [{ name: 'p4', schedule: 'soon' }, 'schedule'],
  ])('%j is refused', async (fields, member) => {
    expect((await post(fields)).body).toMatchObject({ status: 422, errors: [{ loc: ['body', member] }] })
    expect(await names()).not.toContain('p4')
  })

  it('are removed once', async () => {
    expect((await service.call('DELETE', '/producers/p3')).body).toEqual({ removed: 'p3' })
    expect((await service.call('DELETE', '/producers/p3')).body).toMatchObject({
      status: 404,
      code: 'producer.not_found',
      name: 'p3',
    })
    expect(await names()).toEqual(['p1', 'p2'])
  })

  it('say how they are', async () => {
    const { producers } = (await service.call('GET', '/producers/status')).body as {
      producers: Readonly<Record<string, object>>
    }
    expect(producers['p1']).toEqual({
      ...P1,
      id: 'p1',
      kind: 'registered',
      schedule: '*/15 * * * *',
      health: 'unknown',
      healthy: null,
      last_run_at: null,
      last_success_at: null,
      last_error: null,
      consecutive_failures: 0,
      events_produced: 0,
      avg_duration_ms: null,
      expected_interval_ms: 900_000,
      quarantined_until: null,
      quarantined_reason: null,
      updated_at: null,
      karma: 50,
      trust: 1,
      calls_resolved: 0,
      calls_hit: 0,
    })
    expect(producers['technical-analysis']).toMatchObject({ kind: 'builtin', healthy: null })
  })

  it('hear what came of their signals', async () => {
    const feedback = (id: string, body: object) => service.call('POST', `/producers/${id}/feedback`, { body })
    expect((await feedback('none', {})).body).toMatchObject({
      status: 404,
      code: 'producer.not_found',
      name: 'none',
    })
    const answer = await feedback('p1', { signal_id: 'x', outcome: 'profit' })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      producer_id: 'p1',
      window_hours: 24,
      signals_evaluated: 0,
      hit_rate: 0,
      top_miss: [],
      accepted: true,
      event_id: expect.any(String),
      matched: false,
    })
    const events = await eventsOf(service, 'learning.feedback')
    expect(events).toMatchObject([
      {
        id: (answer.body as { event_id: string }).event_id,
        payload: { producer_id: 'p1', signal_id: 'x', outcome: 'profit', matched: false },
      },
    ])
    expect((await feedback('p1', { outcome: 'maybe' })).body).toMatchObject({
      status: 422,
      errors: [{ loc: ['body', 'outcome'] }],
    })
  })

  it('are capabilities, beside tools and domains', async () => {
    await emit(service, 'p1', 'signal.onchain.v1', { symbol: 'BTC' })
    const { tools, event_domains, producers } = (await service.call('GET', '/capabilities')).body as {
      tools: readonly { name: string; description: string }[]
      event_domains: readonly string[]
      producers: readonly object[]
    }
    expect(tools.map(({ name }) => name).slice(0, 6)).toEqual([
      'get_brain_status',
      'get_recent_signals',
      'get_open_positions',
      'get_signal_attribution',
      'emit_producer_signal',
      'svc_provenance_check',
    ])
    expect(event_domains).toEqual(expect.arrayContaining(['alert', 'learning', 'signal', 'system']))
    expect(event_domains).toEqual(event_domains.toSorted())
    expect(producers).toMatchObject([
      {
        producer_id: 'p1',
        signal_types: expect.arrayContaining([
          { name: 'signal.onchain.v1', schema: expect.objectContaining({ type: 'object' }) },
        ]),
        last_seen: expect.any(String),
        health: 'unknown',
      },
      { producer_id: 'p2', last_seen: null, health: 'unknown' },
    ])
  })
})
