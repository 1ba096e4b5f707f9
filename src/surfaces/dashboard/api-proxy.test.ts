import { once } from 'node:events'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as httpRequest,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { OPERATOR_TOKEN, TOKEN } from '../http/test-server.fixture.ts'
import { checkToken, openApiConnection } from './api-proxy.ts'
import { json, startTestDashboard, type TestDashboard } from './dashboard.fixture.ts'

let dashboard: TestDashboard
let cookie: string
beforeEach(async () => {
  dashboard = await startTestDashboard({ api: { settings: { api: { operator_token: OPERATOR_TOKEN } } } })
  cookie = await dashboard.signIn()
})
afterEach(() => dashboard.close())

const ann = { node_id: 'ann', name: 'Ann', role: 'curator' }
const register = (headers: Readonly<Record<string, string>>, body: object = ann) =>
  dashboard.ask('POST', '/api/v1/contributors/register', json(body, { cookie, ...headers }))

describe('the API through the dashboard', () => {
  it('requires a session', async () => {
    const denied = await dashboard.ask('GET', '/api/v1/brain/status')
    expect(JSON.parse(denied.text)).toMatchObject({ status: 401, code: 'auth.missing_token' })
    expect(denied.headers['www-authenticate']).toBe('Bearer')
    const { status, text } = await dashboard.ask('GET', '/api/v1/brain/status', { headers: { cookie } })
    expect([status, JSON.parse(text)]).toMatchObject([200, { kill_switch_level: 0 }])
  })

  it('ignores tokens from the page', async () => {
    const headers = { authorization: 'Bearer wrong', cookie }
    expect((await dashboard.ask('GET', '/api/v1/brain/status', { headers })).status).toBe(200)
    const alone = { authorization: `Bearer ${OPERATOR_TOKEN}` }
    expect((await dashboard.ask('GET', '/api/v1/brain/status', { headers: alone })).status).toBe(401)
  })

  it('accepts writes only from its own pages', async () => {
    for (const headers of [
      {},
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
      { 'sec-fetch-site': 'cross-site', origin: `http://${dashboard.host}` },
    ]) {
      const refused = await register(headers)
      expect(JSON.parse(refused.text)).toMatchObject({ status: 403, code: 'dashboard.origin_denied' })
    }
    expect((await register({ origin: `http://${dashboard.host}` })).status).toBe(200)
    expect((await register({ 'sec-fetch-site': 'same-origin' }, { ...ann, node_id: 'bob' })).status).toBe(200)
  })

  it('forwards error responses unchanged', async () => {
    const own = { 'sec-fetch-site': 'same-origin' }
    const invalid = await register(own, { node_id: 1 })
    expect([invalid.status, invalid.headers['content-type']]).toEqual([422, 'application/problem+json'])
    const large = await register(own, { ...ann, metadata: { text: 'x'.repeat(2 * 1024 * 1024) } })
    expect([large.status, JSON.parse(large.text)]).toMatchObject([413, { code: 'request.too_large' }])
    const missing = await dashboard.ask('GET', '/api/v1/nothing', { headers: { cookie } })
    expect([missing.status, JSON.parse(missing.text)]).toMatchObject([404, { code: 'route.not_found' }])
  })

  it('sends the operator token with the one request that has it', async () => {
    const closeAll = (headers: Readonly<Record<string, string>>) =>
      dashboard.ask(
        'POST',
        '/api/v1/positions/close-all',
        json({ reason: 'x' }, { cookie, 'sec-fetch-site': 'same-origin', ...headers }),
      )
    expect(JSON.parse((await closeAll({})).text)).toMatchObject({ status: 403, code: 'auth.forbidden' })
    for (const wrong of ['wrong', '%zz', '%20'])
      expect((await closeAll({ 'x-operator-token': wrong })).status).toBe(401)
    expect((await closeAll({ 'x-operator-token': OPERATOR_TOKEN })).status).toBe(200)
    expect((await closeAll({})).status).toBe(403)
  })

  it('ends a session whose token was changed', async () => {
    const { configuration } = dashboard.api
    await configuration.change({ api: { auth_token: 'y'.repeat(40) } }, { insecureOk: false })
    const { status, text } = await dashboard.ask('GET', '/api/v1/brain/status', { headers: { cookie } })
    expect([status, JSON.parse(text)]).toMatchObject([401, { code: 'auth.invalid_token' }])
  })

  it('reports an unreachable API', async () => {
    await dashboard.api.server.close()
    const { status, text } = await dashboard.ask('GET', '/api/v1/brain/status', { headers: { cookie } })
    expect([status, JSON.parse(text)]).toMatchObject([502, { code: 'dashboard.api_unreachable' }])
  })
})

describe('an API on an address of IPv6', () => {
  const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
    all?.some(({ address }) => address === '::1'),
  )

  it.runIf(hasIpv6)('is called there, also where it listens on every address', async () => {
    const api = createServer((_, response) => response.end())
    api.listen(0, '::1')
    await once(api, 'listening')
    const { port } = api.address() as AddressInfo
    for (const host of ['[::1]', '[::]'])
      expect(await checkToken(openApiConnection(`http://${host}:${port}/api`), 'token', 10_000)).toBe('valid')
    api.close()
    api.closeAllConnections()
  })
})

describe('the stream through the dashboard', () => {
  const openStream = async (headers: Readonly<Record<string, string>> = {}): Promise<IncomingMessage> => {
    const request = httpRequest(dashboard.url, {
      path: '/api/v1/events/stream',
      headers: { cookie, ...headers },
      agent: false,
    })
    request.end()
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    return response.setEncoding('utf8')
  }
  /** With or without an error. */
  const endOf = (stream: IncomingMessage): Promise<void> =>
    new Promise((resolve) => {
      stream.on('error', () => undefined).on('close', resolve)
    })
  /** Reads until the text arrives. The stream is paused between calls, so nothing is lost. */
  const readUntil = async (stream: IncomingMessage, word: string): Promise<string> => {
    let read = ''
    while (!read.includes(word)) {
      const arrived = once(stream, 'data')
      stream.resume()
      read += String(await arrived)
      stream.pause()
    }
    return read
  }

  it('sends events as they happen and resumes after the last one', async () => {
    const stream = await openStream()
    expect(stream.headers['content-type']).toContain('text/event-stream')
    await readUntil(stream, 'retry: 2000')
    await register({ 'sec-fetch-site': 'same-origin' })
    const received = await readUntil(stream, 'contributor.registered.v1')
    const lastId = /id: (\S+)\ndata: [^\n]*contributor\.registered/.exec(received)?.[1] ?? ''
    stream.destroy()
    await register({ 'sec-fetch-site': 'same-origin' }, { ...ann, node_id: 'bob' })
    const again = await openStream({ 'last-event-id': lastId })
    const rest = await readUntil(again, '"node_id":"bob"')
    expect(rest).not.toContain('"node_id":"ann"')
    again.destroy()
  })

  it('is closed at the API when the browser disconnects', async () => {
    const clients = async () => (await dashboard.api.callRoot('GET', '/metrics')).text
    const stream = await openStream()
    await readUntil(stream, 'retry')
    expect(await clients()).toContain('\nsvc_stream_clients 1\n')
    stream.destroy()
    while (!(await clients()).includes('\nsvc_stream_clients 0\n')) await new Promise(setImmediate)
  })

  it('ends with the server, at once', async () => {
    const stream = await openStream()
    await readUntil(stream, 'retry')
    const ended = endOf(stream)
    await dashboard.server.close()
    await expect(ended).resolves.not.toThrow()
  })

  it('ends with its session', async () => {
    const short = await startTestDashboard({ limits: { sessionMs: 200 } })
    const request = httpRequest(short.url, {
      path: '/api/v1/events/stream',
      headers: { cookie: await short.signIn() },
      agent: false,
    })
    request.end()
    const [stream] = (await once(request, 'response')) as [IncomingMessage]
    await expect(endOf(stream.resume())).resolves.not.toThrow()
    await short.close()
  })
})

describe('a token', () => {
  it.each([
    [200, 'valid'],
    [429, 'valid'],
    [401, 'invalid'],
    [403, 'unreadable'],
    [500, 'unreachable'],
    [302, 'unreachable'],
  ])('to which the API answers %s is %s', async (status, meaning) => {
    const asked: unknown[] = []
    const api = createServer(({ method, url, headers }, response) => {
      asked.push([method, url, Buffer.from(headers.authorization ?? '', 'latin1').toString('utf8')])
      response.writeHead(status).end()
    })
    await once(api.listen(0, '127.0.0.1'), 'listening')
    const { port } = api.address() as AddressInfo
    const connection = openApiConnection(`http://0.0.0.0:${port}/api/v1`)
    expect(connection.url.hostname).toBe('127.0.0.1')
    expect(await checkToken(connection, 'tökén', 10_000)).toBe(meaning)
    expect(asked).toEqual([['GET', '/api/v1/brain/status', 'Bearer tökén']])
    api.close()
  })

  it('is not checked by an API that does not answer in time', async () => {
    const api = createServer(() => undefined)
    await once(api.listen(0, '127.0.0.1'), 'listening')
    const { port } = api.address() as AddressInfo
    expect(await checkToken(openApiConnection(`http://127.0.0.1:${port}/api`), 'token', 20)).toBe(
      'unreachable',
    )
    api.close()
    api.closeAllConnections()
  })

  it('with a control character is sent nowhere', async () => {
    const nowhere = openApiConnection('http://127.0.0.1:1/api')
    for (const token of ['a\nb', 'a\u0000', 'a\u007f', '\u001fa'])
      expect(await checkToken(nowhere, token, 10_000)).toBe('invalid')
    expect(await checkToken(nowhere, 'a b~', 10_000)).toBe('unreachable')
  })
})

describe('an API', () => {
  it('gets and gives the headers that belong to it, and no others', async () => {
    const given = {
      allow: 'GET',
      'cache-control': 'no-cache',
      'content-type': 'application/json',
      deprecation: '@1',
      'idempotency-replayed': 'true',
      'retry-after': '7',
      sunset: 'soon',
      'x-accel-buffering': 'no',
      'x-attribution-notice': 'notice',
      'x-request-id': 'of-the-api',
    }
    let asked: IncomingHttpHeaders = {}
    const api = createServer((request, response) => {
      asked = request.headers
      response.writeHead(201, { ...given, 'set-cookie': 'a=b', 'access-control-allow-origin': '*' })
      request.resume().on('end', () => response.end('{"ok":1}'))
    })
    await once(api.listen(0, '127.0.0.1'), 'listening')
    const { port } = api.address() as AddressInfo
    const sessionSecret = new Uint8Array(32)
    const signedIn = await startTestDashboard({ sessionSecret })
    const other = await startTestDashboard({ apiUrl: `http://127.0.0.1:${port}/api/v1`, sessionSecret })
    const passed = {
      accept: 'application/json',
      'content-type': 'application/json',
      'idempotency-key': 'key',
      'last-event-id': 'e1',
      'x-request-id': 'of-the-page',
      'x-trace-id': 'trace',
    }
    const sent = {
      ...passed,
      cookie: await signedIn.signIn(),
      'sec-fetch-site': 'same-origin',
      'x-other': '1',
    }
    const answer = await other.ask('POST', '/api/v1/any/path?a=b', { headers: sent, body: '{}' })
    expect([answer.status, answer.text]).toEqual([201, '{"ok":1}'])
    expect(answer.headers).toMatchObject(given)
    for (const name of ['set-cookie', 'access-control-allow-origin'])
      expect(answer.headers[name]).toBeUndefined()
    expect(asked).toMatchObject({ ...passed, authorization: `Bearer ${TOKEN}`, 'x-act-without': 'operate' })
    for (const name of ['cookie', 'sec-fetch-site', 'x-other']) expect(asked[name]).toBeUndefined()
    const operated = { ...sent, 'x-operator-token': encodeURIComponent('öperator') }
    await other.ask('POST', '/api/v1/any', { headers: operated, body: '{}' })
    expect(Buffer.from(asked.authorization ?? '', 'latin1').toString('utf8')).toBe('Bearer öperator')
    expect(asked['x-act-without']).toBeUndefined()
    await other.ask('POST', '/api/v1/any', { headers: { ...sent, 'x-operator-token': '' }, body: '{}' })
    expect(asked).toMatchObject({ authorization: `Bearer ${TOKEN}`, 'x-act-without': 'operate' })
    await signedIn.close()
    await other.close()
    api.closeAllConnections()
    api.close()
  })

  it('that aborts a response aborts it for the browser', async () => {
    const broken = createServer((_request, response) => {
      response.writeHead(200, {
        'content-length': '100',
        'set-cookie': 'a=b',
        'access-control-allow-origin': '*',
      })
      response.write('half')
      setImmediate(() => response.destroy())
    })
    await once(broken.listen(0, '127.0.0.1'), 'listening')
    const { port } = broken.address() as AddressInfo
    const sessionSecret = new Uint8Array(32)
    const signedIn = await startTestDashboard({ sessionSecret })
    const other = await startTestDashboard({ apiUrl: `http://127.0.0.1:${port}/api/v1`, sessionSecret })
    const headers = { cookie: await signedIn.signIn() }
    await expect(other.ask('GET', '/api/v1/health', { headers })).rejects.toThrow('aborted')
    await signedIn.close()
    await other.close()
    broken.close()
  })

  it('is read over connections that stay, and written over a new one each time', async () => {
    const connections: unknown[] = []
    const api = createServer((request, response) => {
      connections.push(request.socket)
      request.resume().on('end', () => response.end('{}'))
    })
    await once(api.listen(0, '127.0.0.1'), 'listening')
    const { port } = api.address() as AddressInfo
    const sessionSecret = new Uint8Array(32)
    const signedIn = await startTestDashboard({ sessionSecret })
    const other = await startTestDashboard({ apiUrl: `http://127.0.0.1:${port}/api/v1`, sessionSecret })
    const own = { cookie: await signedIn.signIn(), 'sec-fetch-site': 'same-origin' }
    /** Number of connections that were not used before. */
    const opened = async (method: string, times: number, body = {}): Promise<number> => {
      const before = new Set(connections).size
      for (let time = 0; time < times; time += 1)
        expect((await other.ask(method, '/api/v1/health', { headers: own, ...body })).status).toBe(200)
      return new Set(connections).size - before
    }
    expect(await opened('GET', 8)).toBeLessThan(8)
    expect(await opened('HEAD', 8)).toBeLessThan(8)
    expect(await opened('POST', 4)).toBe(4)
    // A body is consumed, and could not be sent again.
    expect(await opened('GET', 4, { headers: { ...own, 'content-length': '2' }, body: '{}' })).toBe(4)
    await signedIn.close()
    await other.close()
    api.closeAllConnections()
    api.close()
  })

  it('that closes a connection when the next request comes costs nobody an answer, and no write its certainty', async () => {
    const requests: string[] = []
    const closing = createServer((request, response) => {
      requests.push(request.method ?? '')
      const { socket } = request
      // The connection ends with the next bytes, like one that was idle for too long.
      socket.once('data', () => socket.destroy())
      response.setHeader('content-type', 'application/json')
      request.resume().on('end', () => response.end('{}'))
    })
    await once(closing.listen(0, '127.0.0.1'), 'listening')
    const { port } = closing.address() as AddressInfo
    const sessionSecret = new Uint8Array(32)
    const signedIn = await startTestDashboard({ sessionSecret })
    const other = await startTestDashboard({ apiUrl: `http://127.0.0.1:${port}/api/v1`, sessionSecret })
    const own = { cookie: await signedIn.signIn(), 'sec-fetch-site': 'same-origin' }
    for (let time = 0; time < 3; time += 1)
      expect((await other.ask('GET', '/api/v1/health', { headers: own })).status).toBe(200)
    expect((await other.ask('POST', '/api/v1/positions/close-all', json({}, own))).status).toBe(200)
    expect(requests.at(-1)).toBe('POST')
    expect(requests.filter((method) => method === 'POST')).toHaveLength(1)
    await signedIn.close()
    await other.close()
    closing.closeAllConnections()
    closing.close()
  })
})
