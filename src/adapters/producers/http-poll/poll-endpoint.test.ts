import { once } from 'node:events'
import { createServer as createTcpServer, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { describe, expect, it } from 'vitest'
import { pollEndpoint, type PollRules } from './poll-endpoint.ts'
import { answering, BODY, clock, ITEM, listen, poll, RULES } from './servers.fixture.ts'

const HAS_IPV6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === '::1'),
)

describe('a poll', () => {
  it('asks once, politely, and takes what it gets', async () => {
    const asked: unknown[] = []
    const { port, connections } = await answering(({ method, url, headers }, response) => {
      asked.push({ method, url, host: headers.host, accept: headers.accept, connection: headers.connection })
      response.setHeader('content-type', 'application/json; charset=utf-8').end(BODY)
    })
    const result = await pollEndpoint(`http://127.0.0.1:${port}/a%20b?since=1#part`, RULES, { clock })
    const row = { ...ITEM, ts: null, dedupeKey: null }
    expect(result).toEqual({ status: 'rows', rows: [row], rejected: [], error: null })
    const host = `127.0.0.1:${port}`
    expect(asked).toEqual([
      { method: 'GET', url: '/a%20b?since=1', host, accept: 'application/json', connection: 'close' },
    ])
    expect(connections()).toBe(1)
  })

  it('warns of no leak beside many others', async () => {
    const warnings: Error[] = []
    const onWarning = (warning: Error): void => void warnings.push(warning)
    process.on('warning', onWarning)
    const { port } = await answering((_request, response) => response.end(BODY))
    const { signal } = new AbortController()
    const polls = Array.from({ length: 30 }, () =>
      pollEndpoint(`http://127.0.0.1:${port}`, RULES, { clock, signal }),
    )
    expect(new Set((await Promise.all(polls)).map(({ status }) => status))).toEqual(new Set(['rows']))
    process.off('warning', onWarning)
    expect(warnings).toEqual([])
  })

  it.each(['application/vnd.api+json', 'text/json', undefined])('takes the type %s', async (type) => {
    const result = await poll((_request, response) => {
      if (type !== undefined) response.setHeader('content-type', type)
      response.end(BODY)
    })
    expect(result.status).toBe('rows')
  })

  it('tells what it skipped', async () => {
    expect(await poll((_request, response) => response.end(JSON.stringify([ITEM, 7])))).toMatchObject({
      status: 'rows',
      rejected: [{ index: 1, reason: 'must be an object' }],
      error: '1 of 2 items skipped; item 1: must be an object',
    })
  })

  it('connects to the address it found, under the name it was given', async () => {
    const hosts: unknown[] = []
    const { port } = await answering(({ headers }, response) => {
      hosts.push(headers.host)
      response.end(BODY)
    })
    const names: string[] = []
    const resolve = async (name: string) => {
      names.push(name)
      return ['127.0.0.1']
    }
    const result = await pollEndpoint(`http://Producer.example:${port}/`, RULES, { clock, resolve })
    expect(result.status).toBe('rows')
    expect(names).toEqual(['producer.example'])
    expect(hosts).toEqual([`producer.example:${port}`])
  })

  it('tries the next address when one does not answer', async () => {
    const { port } = await answering((_request, response) => response.end(BODY))
    const resolve = async () => ['::1', '127.0.0.1']
    const result = await pollEndpoint(`http://producer.example:${port}/`, RULES, { clock, resolve })
    expect(result.status).toBe('rows')
  })

  it.skipIf(!HAS_IPV6)('reads IPv6 literals', async () => {
    const { port } = await answering((_request, response) => response.end(BODY), '::1')
    expect((await pollEndpoint(`http://[::1]:${port}/`, RULES, { clock })).status).toBe('rows')
  })

  it('names the host to a secure server', async () => {
    const server = createTcpServer()
    const hello = once(server, 'connection').then(async ([socket]) => {
      const [bytes] = (await once(socket as Socket, 'data')) as [Buffer]
      ;(socket as Socket).destroy()
      return bytes.toString('latin1')
    })
    const { port } = await listen(server)
    const resolve = async () => ['127.0.0.1']
    const result = await pollEndpoint(`https://producer.example:${port}/`, RULES, { clock, resolve })
    expect(result).toEqual({ status: 'error', error: 'the connection failed: ECONNRESET' })
    expect(await hello).toContain('producer.example')
  })

  it('does not speak to a server without a certificate that is plain HTTP', async () => {
    const { port } = await answering((_request, response) => response.end(BODY))
    const result = await pollEndpoint(`https://127.0.0.1:${port}/`, RULES, { clock })
    expect(result).toMatchObject({ status: 'error', error: expect.stringContaining('the connection failed') })
  })
})

describe('a poll is degraded', () => {
  it.each([401, 403])('by HTTP %i', async (status) => {
    const result = await poll((_request, response) => response.writeHead(status).end(BODY))
    expect(result).toEqual({ status: 'degraded', error: `HTTP ${status}`, rejected: [] })
  })

  it.each([
    ['[]', 'the response holds no items'],
    ['', 'the response is empty'],
    ['{"error":"no"}', 'the response is neither a list nor {"items": […]}'],
    ['[{"type":"signal.ta.v1","payload":{}}]', '1 of 1 items skipped; item 0: payload.symbol is required'],
  ])('by the response %s', async (body, error) => {
    expect(await poll((_request, response) => response.end(body))).toMatchObject({
      status: 'degraded',
      error,
    })
  })

  it.each([
    'ftp://producer.example/',
    'http://ann:secret@producer.example/',
    'http:producer.example',
    'text',
    'http://[::1',
  ])('by the endpoint %s', async (endpoint) => {
    const error = 'endpoint is no http or https URL without user info'
    expect(await pollEndpoint(endpoint, RULES, { clock })).toEqual({
      status: 'degraded',
      error,
      rejected: [],
    })
  })
})

describe('a poll does not go into our own network', () => {
  const guarded: PollRules = { ...RULES, allowPrivateEndpoints: false }

  it.each([
    ['127.0.0.1', 'loopback'],
    ['2130706433', 'loopback'],
    ['0x7f000001', 'loopback'],
    ['0177.0.0.1', 'loopback'],
    ['127.1', 'loopback'],
    ['①②⑦.0.0.1', 'loopback'],
    ['localhost', 'loopback'],
    ['0', 'unspecified'],
    ['[::1]', 'loopback'],
    ['[::ffff:127.0.0.1]', 'loopback'],
    ['[64:ff9b::7f00:1]', 'loopback'],
    ['[2002:7f00:1::]', 'reserved'],
    ['[fd00::1]', 'private'],
    ['169.254.169.254', 'link-local'],
    ['10.0.0.1', 'private'],
    ['100.64.0.1', 'private'],
  ])('by http://%s', async (host, kind) => {
    const { port, connections } = await answering((_request, response) => response.end(BODY))
    const result = await pollEndpoint(`http://${host}:${port}/`, guarded, { clock })
    expect(result).toEqual({ status: 'degraded', error: `endpoint blocked: ${kind} address`, rejected: [] })
    expect(connections()).toBe(0)
  })

  it('by a name, even if only one of its addresses is inside', async () => {
    const resolve = async () => ['1.1.1.1', '2606:4700::1', '192.168.0.7']
    const result = await pollEndpoint('http://producer.example/', guarded, { clock, resolve })
    expect(result).toMatchObject({ status: 'degraded', error: 'endpoint blocked: private address' })
  })

  it('by a name that means something else the second time', async () => {
    const { port } = await answering((_request, response) => response.end(BODY))
    const answers = [['127.0.0.1'], ['127.0.0.2']]
    const resolve = async () => answers.shift() ?? []
    expect((await pollEndpoint(`http://producer.example:${port}/`, RULES, { clock, resolve })).status).toBe(
      'rows',
    )
    expect(answers).toEqual([['127.0.0.2']])
  })

  it('by a redirect', async () => {
    const inside = await answering((_request, response) => response.end(BODY))
    const result = await poll((_request, response) =>
      response.writeHead(302, { location: `http://127.0.0.1:${inside.port}/` }).end(),
    )
    expect(result).toEqual({ status: 'error', error: 'HTTP 302: redirects are not followed' })
    expect(inside.connections()).toBe(0)
  })
})
