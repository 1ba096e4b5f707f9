import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { errorOf, eventsOf, register, registerProducer, tool } from './acts.ts'
import { cleanUp, newHome, startService, untilNextMinute, type RunningService } from './service.ts'
import { onDefaultStore } from './stores.ts'

/** Names that look-ups in plain objects find although they were never added. */
const INHERITED = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf', 'isPrototypeOf']

onDefaultStore('names that every object inherits', (store) => {
  let service: RunningService
  beforeAll(async () => {
    service = await startService(await newHome(), await store())
    await registerProducer(service, 'p1', 'onchain')
  })
  const emit = (producer_id: string, signal_type: string) =>
    tool(service, 'emit_producer_signal', { producer_id, signal_type, payload: { symbol: 'BTC', price: 1 } })

  it('are those of no author, tool, type, key or filter', async () => {
    for (const name of INHERITED) {
      expect([name, errorOf(await emit(name, 'signal.ta.v1'))]).toEqual([name, 'producer_not_found'])
      expect(errorOf(await tool(service, name, {}))).toBe(-32_602)
      expect(errorOf(await emit('p1', name))).toBe(-32_602)
      for (const path of [`/contributors/${name}`, `/producers/${name}`]) {
        const method = path.startsWith('/producers') ? 'DELETE' : 'GET'
        expect((await service.call(method, path)).status).toBe(404)
      }
      expect(
        (
          await service.call('POST', '/signals/submit', {
            body: { event_type: 'signal.curator.v1', node_id: name, payload: {} },
          })
        ).status,
      ).toBe(404)
      const change = await service.call('POST', '/config', { body: `{"${name}":{"x":1}}` })
      expect([name, change.status]).toEqual([name, 400])
      for (const path of [`/signals?domain=${name}`, `/events?type=${name}`, `/positions?status=${name}`]) {
        expect([200, 422]).toContain((await service.call('GET', path)).status)
      }
    }
    expect((await service.call('GET', '/health')).status).toBe(200)
  })
})

onDefaultStore('authors with names that every object inherits', (store) => {
  it('are authors like any other', async () => {
    const service = await startService(await newHome(), await store())
    for (const name of INHERITED) {
      const id = await register(service, name, { [name]: { [name]: 1 } })
      const symbol = name.toUpperCase().slice(0, 12)
      const payload = `{"symbol":"${symbol}","direction":"bullish","conviction":9,"${name}":{"x":1}}`
      const body = `{"event_type":"signal.curator.v1","node_id":"${name}","payload":${payload}}`
      expect((await service.call('POST', '/signals/submit', { body })).status).toBe(200)
      expect((await service.call('GET', `/contributors/${id}/score`)).body).toMatchObject({ node_id: name })
    }
    for (const name of INHERITED.filter((each) => /^[a-z]/i.test(each))) {
      await registerProducer(service, `${name}.p`, 'technical')
      expect(
        (
          await service.call('POST', '/producers/register', {
            body: { name, domain: name, endpoint: 'https://example.com/x' },
          })
        ).body,
      ).toMatchObject({ code: 'producer.duplicate' })
    }
    expect((await service.call('POST', '/brain/run')).status).toBe(200)
    for (const path of [
      '/producers/status',
      '/contributors/leaderboard',
      '/capabilities',
      '/brain/status',
      '//metrics',
    ]) {
      expect([path, (await service.call('GET', path)).status]).toEqual([path, 200])
    }
    const stored = await service.call('GET', '/signals?limit=500')
    for (const name of INHERITED) expect(stored.text).toContain(`"${name}":{"x":1}`)
    expect((await service.call('GET', '/integrity?mode=full')).body).toMatchObject({ ok: true })
    await service.stop()
  })
})

describe('a polled producer', () => {
  afterAll(cleanUp)
  it('has its bad items skipped and counted, and its good ones stored', async () => {
    const payload = { symbol: 'BTC', whale_netflow: 1 }
    const good = { type: 'signal.onchain.v1', payload }
    const bad = [
      ...INHERITED.map((type) => ({ type, payload })),
      { type: 'signal.constructor.v1', payload },
      { type: 'signal.ta.v1', payload: { symbol: 'BTC', rsi_14: 1 } },
      ...INHERITED,
    ]
    const text = JSON.stringify([...bad, good]).replace(
      '"signal.onchain.v1"',
      '"signal.onchain.v1","__proto__":{"x":1}',
    )
    const endpoint = createServer((_request, response) =>
      response.setHeader('content-type', 'application/json').end(text),
    ).listen(0, '127.0.0.1')
    await once(endpoint, 'listening')
    const variables = { SVC_PRODUCERS__ALLOW_PRIVATE_ENDPOINTS: 'true' }
    const options = { clockOffsetMs: untilNextMinute(2) }
    const service = await startService(await newHome(), variables, options)
    const url = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/`
    const body = { name: 'near', domain: 'onchain', endpoint: url, schedule: '* * * * *' }
    expect((await service.call('POST', '/producers/register', { body })).status).toBe(200)
    await expect
      .poll(() => eventsOf(service, 'producer.run'), { interval: 500 })
      .toMatchObject([{ payload: { health: 'ok', events_published: 1, rejected: { length: bad.length } } }])
    expect(await eventsOf(service, 'signal')).toMatchObject([{ type: 'signal.onchain.v1', payload }])
    endpoint.close()
    await service.stop()
  })
})
