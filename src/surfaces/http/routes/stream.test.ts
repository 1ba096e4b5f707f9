import { describe, expect, it } from 'vitest'
import { appendTo } from '../../../../test/records.fixture.ts'
import { categoryOf } from '../../../core/log/event.ts'
import { expectProblem } from '../expectations.fixture.ts'
import { streamFixture } from '../stream/stream.fixture.ts'
import type { TestClient, ConnectOptions } from '../stream/stream-client.fixture.ts'
import { TOKEN, type TestServer } from '../test-server.fixture.ts'

const { start, open } = streamFixture()

/** Raises the kill switch: one event of `system` and one of `alert`. */
const raise = async (server: TestServer, level: number): Promise<void> => {
  const { status } = await server.call('POST', '/kill-switch', { json: { level, reason: `level ${level}` } })
  expect(status).toBe(200)
}

const typesOf = ({ messages }: TestClient): readonly string[] => messages.map(({ data }) => data.type)

const storedTypes = async ({ log }: TestServer): Promise<readonly string[]> =>
  (await log.read({ order: 'asc', limit: 1000 })).map(({ type }) => type)

const storedIds = async ({ log }: TestServer): Promise<readonly string[]> =>
  (await log.read({ order: 'asc', limit: 1000 })).map(({ id }) => id)

describe('the answer', () => {
  it('is an event stream that begins with how to come back', async () => {
    const server = await start()
    const client = await open(server)
    expect(client.status).toBe(200)
    expect(client.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'x-accel-buffering': 'no',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': expect.stringMatching(/./),
    })
    await client.until(() => client.lines.length >= 2)
    expect(client.lines).toEqual(['retry: 2000', ''])
  })

  it('tells an event in two lines and an empty one, with exactly five members', async () => {
    const server = await start()
    const client = await open(server, { domain: 'system' })
    await server.call('POST', '/kill-switch', { json: { level: 1, reason: 'Größe 😀\n"two" lines' } })
    await client.until(() => client.messages.length >= 1)
    const record = (await server.log.read({ types: ['system.kill_switch'], order: 'desc', limit: 1 }))[0]
    const { id = '', type, ts, source, payload = '' } = record ?? {}
    expect(client.lines.slice(2, 5)).toEqual([
      `id: ${id}`,
      `data: {"id":"${id}","type":"${type}","ts":"${ts}","source":"${source}","payload":${payload}}`,
      '',
    ])
    expect(client.messages[0]?.data.payload['reason']).toBe('Größe 😀\n"two" lines')
  })

  it('needs a token', async () => {
    const server = await start()
    expectProblem(await server.call('GET', '/events/stream', { token: null }), 'auth.missing_token', 401)
    expectProblem(await server.call('GET', '/events/stream', { token: 'wrong' }), 'auth.invalid_token', 401)
  })

  it('answers both forms of the path, and no other method', async () => {
    const server = await start()
    const response = await fetch(`${server.baseUrl}/events/stream/`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    })
    expect(response.status).toBe(200)
    await response.body?.cancel()
    for (const path of ['/events/stream', '/events/stream/', '/events/str%65am']) {
      for (const method of ['HEAD', 'POST', 'PUT', 'DELETE']) {
        const { status, headers } = await server.call(method, path, { token: null })
        expect([status, headers.get('allow')], `${method} ${path}`).toEqual([405, 'GET'])
      }
    }
    // The neighbouring events keep their ids.
    const [id] = await storedIds(server)
    expect((await server.call('HEAD', `/events/${id}`)).status).toBe(200)
    expect((await server.call('HEAD', '/events/streams')).status).toBe(404)
  })

  it('carries the origin that may read it', async () => {
    const origin = 'https://desk.example'
    const server = await start({ settings: { api: { cors_origins: [origin] } } })
    const response = await fetch(`${server.baseUrl}/events/stream`, {
      headers: { authorization: `Bearer ${TOKEN}`, origin },
    })
    expect(response.headers.get('access-control-allow-origin')).toBe(origin)
    await response.body?.cancel()
  })

  it('is one read in the audit, and is counted once', async () => {
    const server = await start({ settings: { audit: { reads: true } } })
    const client = await open(server, { domain: 'system' })
    const entries = (await server.auditEntries()).filter(({ resource }) => resource === '/events/stream')
    expect(entries).toMatchObject([{ action: 'read', outcome: 'allowed' }])
    const counted =
      /svc_http_requests_total\{method="GET",route="\/api\/v1\/events\/stream",status="200"\} 1\n/
    const metrics = await server.callRoot('GET', '/metrics')
    expect(metrics.text).toMatch(counted)
    expect(metrics.text).toContain('svc_stream_clients 1\n')
    // Events from before the start of the stream are not sent.
    expect(typesOf(client)).not.toContain('system.audit.v1')
    client.close()
    const later = async (): Promise<string> => {
      const { text } = await server.callRoot('GET', '/metrics')
      return text.includes('svc_stream_clients 1\n') ? later() : text
    }
    const text = await later()
    expect(text).toContain('svc_stream_clients 0\n')
    expect(text).toMatch(counted)
  })
})

describe('the filter', () => {
  it('takes exact first segments', async () => {
    const server = await start()
    const all = await open(server)
    const empty = await open(server, { domain: '' })
    const both = await open(server, { domain: 'alert,system' })
    const alert = await open(server, { domain: ' alert ,, signal' })
    const before = (await storedTypes(server)).length
    const none = await Promise.all(
      ['signal', 'alerts', 'aler', 'alert.kill_switch', '*', 'toString'].map((domain) =>
        open(server, { domain }),
      ),
    )
    await raise(server, 1)
    await raise(server, 2)
    const everything = (await storedTypes(server)).slice(before)
    expect(new Set(everything.map(categoryOf))).toEqual(new Set(['system', 'alert']))
    for (const client of [all, empty, both]) {
      await client.until(() => client.messages.length >= everything.length)
      expect(typesOf(client)).toEqual(everything)
    }
    await alert.until(() => alert.messages.length >= 2)
    expect(typesOf(alert)).toEqual(['alert.kill_switch', 'alert.kill_switch'])
    for (const client of none) expect(client.messages).toEqual([])
  })

  it('is given once, and is short', async () => {
    const server = await start()
    for (const query of ['domain=a&domain=b', `domain=${'a,'.repeat(200)}`, 'since=a&since=b']) {
      expectProblem(await server.call('GET', `/events/stream?${query}`), 'request.invalid', 422)
    }
  })
})

describe('the beginning', () => {
  it('is now, unless something else is asked for', async () => {
    const server = await start()
    await raise(server, 1)
    const newcomers = await Promise.all([
      open(server),
      open(server, { since: '' }),
      open(server, { lastEventId: '' }),
    ])
    const before = await storedIds(server)
    await raise(server, 2)
    for (const client of newcomers) {
      await client.until(() => client.messages.length >= 3)
      expect(client.messages.map(({ id }) => id)).toEqual((await storedIds(server)).slice(before.length))
    }
  })

  it('is the event of since, or the one behind Last-Event-ID; the later one counts', async () => {
    const server = await start()
    await raise(server, 1)
    await raise(server, 2)
    const ids = await storedIds(server)
    expect(ids.length).toBeGreaterThan(5)
    const [, second = '', third = '', fourth = ''] = ids
    const receivedFrom = async (options: ConnectOptions): Promise<readonly string[]> => {
      const client = await open(server, options)
      await client.until(() => client.messages.at(-1)?.id === ids.at(-1))
      return client.messages.map(({ id }) => id)
    }
    expect(await receivedFrom({ since: second })).toEqual(ids.slice(1))
    expect(await receivedFrom({ lastEventId: second })).toEqual(ids.slice(2))
    expect(await receivedFrom({ since: second, lastEventId: fourth })).toEqual(ids.slice(4))
    expect(await receivedFrom({ since: fourth, lastEventId: second })).toEqual(ids.slice(3))
    expect(await receivedFrom({ since: third, lastEventId: second })).toEqual(ids.slice(2))
    expect(await receivedFrom({ since: second, lastEventId: second })).toEqual(ids.slice(2))
    // A known id counts as a position, an unknown one does not.
    expect(await receivedFrom({ since: second, lastEventId: 'unknown' })).toEqual(ids.slice(1))
    expect(await receivedFrom({ since: 'unknown', lastEventId: second })).toEqual(ids.slice(2))
    expect(await receivedFrom({ since: ids[0] ?? '' })).toEqual(ids)
  })

  it('passes the filter, too', async () => {
    const server = await start()
    for (const level of [1, 2, 3]) await raise(server, level)
    const alerts = await server.log.read({ types: ['alert'], order: 'asc', limit: 10 })
    const [, second] = alerts.map(({ id }) => id)
    const inclusive = await open(server, { since: second ?? '', domain: 'alert' })
    await inclusive.until(() => inclusive.messages.length >= 2)
    expect(inclusive.messages.map(({ id }) => id)).toEqual(alerts.slice(1).map(({ id }) => id))
    const elsewhere = await open(server, { since: second ?? '', domain: 'system' })
    await elsewhere.until(() => elsewhere.messages.length >= 3)
    const later = await server.log.read({ after: alerts[1]?.seq ?? 0, order: 'asc', limit: 100 })
    const system = later.filter(({ type }) => categoryOf(type) === 'system')
    expect(elsewhere.messages.map(({ id }) => id)).toEqual(system.map(({ id }) => id))
  })

  it('is now for an unknown id, and says so', async () => {
    const server = await start()
    const ids = ['unknown', 'a|b', 'x'.repeat(300), '\u0000', '019c7874-0f70-7c3e-9a51-2f6f0c1b7a10']
    const lost = await Promise.all([
      ...ids.map((since) => open(server, { since })),
      open(server, { lastEventId: 'unknown' }),
      open(server, { lastEventId: 'a|b' }),
    ])
    await raise(server, 1)
    for (const client of lost) {
      await client.until(() => client.messages.length >= 3)
      expect(client.status).toBe(200)
      expect(client.lines.slice(0, 4)).toEqual([
        'retry: 2000',
        '',
        ': unknown event id, live events only',
        '',
      ])
      expect(typesOf(client).slice(0, 2)).toEqual(['system.kill_switch.v1', 'alert.kill_switch'])
    }
  })

  it('may lie far back', async () => {
    const server = await start({ streamLimits: { writeBytesMax: 4000 } })
    const records = await appendTo(server.log, 2500, (seq) => ({
      type: seq % 10 === 0 ? 'alert.test' : 'signal.test.v1',
      payload: { text: 'x'.repeat(seq % 100) },
    }))
    const all = await open(server, { since: records[0]?.id ?? '' })
    const few = await open(server, { since: records[0]?.id ?? '', domain: 'alert' })
    await all.until(() => all.messages.length >= records.length)
    expect(all.messages.map(({ id }) => id)).toEqual(records.map(({ id }) => id))
    await few.until(() => few.messages.length >= 250)
    expect(new Set(typesOf(few))).toEqual(new Set(['alert.test']))
    await raise(server, 1)
    await all.until(() => all.messages.length >= records.length + 3)
    await few.until(() => few.messages.length >= 251)
    const isKnownLine = (line: string): boolean => /^(?:data: |id: |retry: |:|$)/.test(line)
    for (const { lines } of [all, few]) expect(lines.filter((line) => !isKnownLine(line))).toEqual([])
  })
})
