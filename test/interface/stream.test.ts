import { afterEach, beforeAll, expect, it } from 'vitest'
import { eventsOf, register, submit } from './acts.ts'
import { listen, type Listener, type Message } from './listener.ts'
import { newHome, startService, type RunningService, type Variables } from './service.ts'
import { onDefaultStore } from './stores.ts'

const BUFFER_EVENTS = 50

onDefaultStore('the event stream', (store) => {
  let service: RunningService
  beforeAll(async () => {
    service = await startService(await newHome(), {
      ...(await store()),
      SVC_STREAM__KEEP_ALIVE_SECONDS: '1',
      SVC_STREAM__BUFFER_EVENTS: String(BUFFER_EVENTS),
    })
    await register(service, 'n1')
  })
  const listeners: Listener[] = []
  const open = async (query = '', headers: Variables = {}): Promise<Listener> => {
    const listener = await listen(service, query, headers)
    listeners.push(listener)
    return listener
  }
  afterEach(() => {
    for (const listener of listeners.splice(0)) listener.close()
  })
  const heard = async (listener: Listener, count: number): Promise<readonly Message[]> => {
    await listener.until(() => listener.messages.length >= count)
    return listener.messages
  }
  const idsOf = (messages: readonly Message[]): readonly string[] => messages.map(({ id }) => id)
  const setLevel = (level: number) =>
    service.call('POST', '/kill-switch', { body: { level, reason: `level ${level}` } })

  it('begins now, and tells each event in one line', async () => {
    await submit(service, 'n1', { symbol: 'OLD' })
    const listener = await open('?domain=signal')
    expect(listener.status).toBe(200)
    expect(listener.headers.get('content-type')).toContain('text/event-stream')
    const id = await submit(service, 'n1', { symbol: 'BTC', rationale: 'two\nlines "ü"' })
    const [message] = await heard(listener, 1)
    expect(message).toEqual({
      id,
      type: 'signal.curator.v1',
      ts: expect.any(String),
      source: 'n1',
      payload: { symbol: 'BTC', rationale: 'two\nlines "ü"' },
    })
    await listener.until(() => listener.lines.length >= 5)
    const [retry, blank, name, data, end] = listener.lines.filter((line) => !line.startsWith(':'))
    expect([retry, blank, name, end]).toEqual(['retry: 2000', '', `id: ${id}`, ''])
    expect(data).toMatch(/^data: \{/)
  })

  it('goes on where it was left', async () => {
    const ids: string[] = []
    for (const symbol of ['A', 'B', 'C']) ids.push(await submit(service, 'n1', { symbol }))
    const [, second = '', third] = ids
    expect(idsOf(await heard(await open(`?since=${second}&domain=signal`), 2))).toEqual([second, third])
    const resumed = await open('?domain=signal', { 'last-event-id': second })
    expect(idsOf(await heard(resumed, 1))).toEqual([third])
  })

  it('tells only what was asked for, and of alerts only raises', async () => {
    const signals = await open('?domain=signal')
    const both = await open('?domain=signal,alert')
    const alerts = await open('?domain=alert')
    const first = await submit(service, 'n1', { symbol: 'A' })
    await setLevel(1)
    await setLevel(0)
    const last = await submit(service, 'n1', { symbol: 'B' })
    await setLevel(2)
    expect(idsOf(await heard(signals, 2))).toEqual([first, last])
    const types = ['signal.curator.v1', 'alert.kill_switch', 'signal.curator.v1', 'alert.kill_switch']
    expect((await heard(both, 4)).map(({ type }) => type)).toEqual(types)
    const raises = (await heard(alerts, 2)).map(({ type, payload }) => [type, payload['level']])
    expect(raises).toEqual([
      ['alert.kill_switch', 1],
      ['alert.kill_switch', 2],
    ])
    await setLevel(0)
  })

  it('misses nothing and repeats nothing while others write', async () => {
    const [start] = await eventsOf(service, 'signal')
    const count = BUFFER_EVENTS - 10
    const writing = Promise.all(Array.from({ length: count }, (_, index) => submit(service, 'n1', { index })))
    const all: string[] = [start?.id ?? '']
    while (all.length <= count) {
      const last = all.at(-1)
      const listener = await open(`?domain=signal&since=${last}`)
      const [again, ...newer] = idsOf(await heard(listener, Math.min(5, count + 2 - all.length)))
      expect(again).toBe(last)
      all.push(...newer)
    }
    const written = await writing
    expect(all.slice(1).toSorted()).toEqual(written.toSorted())
    const stored = (await eventsOf(service, 'signal')).map(({ id }) => id)
    expect(all.toReversed()).toEqual(stored.slice(0, all.length))
  })

  it('has only lines of the format, and shows in silence that it lives', async () => {
    const listener = await open()
    await submit(service, 'n1', { symbol: 'BTC' })
    await listener.until(() => listener.messages.length > 0 && listener.lines.includes(': keep-alive'))
    const unknown = listener.lines.filter((line) => !/^(?:data: |id: |retry: |:|$)/.test(line))
    expect(unknown).toEqual([])
  })

  it('begins now for an id that nobody knows, and says so', async () => {
    const listener = await open('?since=unknown&domain=signal')
    expect(listener.status).toBe(200)
    const id = await submit(service, 'n1', { symbol: 'BTC' })
    expect(idsOf(await heard(listener, 1))).toEqual([id])
    expect(listener.lines).toContain(': unknown event id, live events only')
  })

  it('lets go of a client that does not read, and nobody else notices', async () => {
    const clients = async (): Promise<string | undefined> =>
      /^svc_stream_clients (\d+)$/m.exec((await service.call('GET', '//metrics')).text)?.[1]
    await expect.poll(clients).toBe('0')
    const reading = await open('?domain=signal')
    const stuck = await open('?domain=signal')
    const rationale = 'x'.repeat(20_000)
    const own = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`m${index}`, 'y'.repeat(1000)]))
    const written: string[] = []
    // Buffers of the system hold the first unread data, so it takes several megabytes.
    while ((await clients()) === '2') {
      written.push(await submit(service, 'n1', { rationale, ...own }))
      await heard(reading, written.length)
      expect(written.length).toBeLessThan(2000)
    }
    expect(await clients()).toBe('1')
    expect(idsOf(reading.messages)).toEqual(written)
    const waiting = stuck.until(() => stuck.messages.length >= written.length)
    await expect(waiting).rejects.toThrow(/terminated|the stream ended/)
  })
})
