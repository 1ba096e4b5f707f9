import { beforeAll, expect, it } from 'vitest'
import { register, submit, type EventItem } from './acts.ts'
import { newHome, startService, type RunningService } from './service.ts'
import { onDefaultStore } from './stores.ts'

onDefaultStore('trace sessions', (store) => {
  let service: RunningService
  beforeAll(async () => {
    service = await startService(await newHome(), await store())
  })
  const open = async (): Promise<string> => {
    const answer = await service.call('POST', '/trace/sessions')
    expect(answer.status).toBe(201)
    expect(answer.body).toMatchObject({ session_id: expect.any(String), status: 'open', closed_at: null })
    return (answer.body as { session_id: string }).session_id
  }
  const session = (id: string) => service.call('GET', `/trace/sessions/${id}`)
  const close = (id: string) => service.call('DELETE', `/trace/sessions/${id}`)
  const append = (id: string, traceId: string) =>
    service.call('PUT', `/trace/sessions/${id}/append`, { body: { trace_id: traceId } })

  it('are opened, listed, closed, and then take nothing more', async () => {
    const id = await open()
    const { items } = (await service.call('GET', '/trace/sessions')).body as {
      items: readonly { session_id: string }[]
    }
    expect(items.map(({ session_id }) => session_id)).toEqual([id])
    expect((await session(id)).body).toMatchObject({ session_id: id, status: 'open', expired: false })
    expect((await append(id, 't-1')).body).toMatchObject({ trace_ids: [id, 't-1'] })
    const first = await close(id)
    expect(first.body).toEqual({ session_id: id, status: 'closed', closed_at: expect.any(String) })
    const second = await close(id)
    expect([second.status, second.text]).toEqual([200, first.text])
    expect((await session(id)).body).toMatchObject({ status: 'closed' })
    expect((await append(id, 't-2')).body).toMatchObject({
      status: 409,
      code: 'trace.session_closed',
      session_id: id,
      session_status: 'closed',
    })
  })

  it('that nobody opened are not found', async () => {
    for (const answer of [await session('none'), await close('none'), await append('none', 't-1')]) {
      expect(answer.body).toMatchObject({
        status: 404,
        code: 'trace.session_not_found',
        session_id: 'none',
      })
    }
  })

  it('gather the events of requests that name them', async () => {
    await register(service, 'n1')
    const id = await open()
    await submit(service, 'n1', { symbol: 'ETH' })
    const signalId = await submit(service, 'n1', { symbol: 'BTC' }, { 'x-trace-id': id })
    const { events } = (await session(id)).body as { events: readonly EventItem[] }
    expect(events).toContainEqual({
      id: signalId,
      type: 'signal.curator.v1',
      ts: expect.any(String),
      source: 'n1',
      trace_id: id,
      payload: { symbol: 'BTC' },
    })
    expect(events.map(({ type }) => type)).toContain('attribution.recorded.v1')
    expect(new Set(events.map(({ trace_id }) => trace_id))).toEqual(new Set([id]))
  })
})
