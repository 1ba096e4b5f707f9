import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { connect, createServer as createTcpServer, type AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { pollEndpoint, type PollRules } from './poll-endpoint.ts'
import { answering, BODY, clock, listen, poll, RULES } from './servers.fixture.ts'

const SHORT: PollRules = { ...RULES, timeoutMs: 100 }

/** Sends the bytes as they are, whatever was asked. */
const sending = (...parts: readonly string[]) =>
  listen(
    createTcpServer((socket) => {
      socket.once('data', () => {
        for (const part of parts) socket.write(part)
        socket.end()
      })
    }),
  )

describe('a poll fails', () => {
  it.each([500, 404, 429, 304])('by HTTP %i', async (status) => {
    const result = await poll((_request, response) => response.writeHead(status).end())
    expect(result).toMatchObject({ status: 'error', error: expect.stringContaining(`HTTP ${status}`) })
  })

  it('when nothing is said in time', async () => {
    expect(await poll(() => {}, SHORT)).toEqual({
      status: 'error',
      error: 'no complete response within 100 ms',
    })
  })

  it('when an answer drips', async () => {
    const dripping: RequestListener = (_request, response) => {
      response.write('[')
      const timer = setInterval(() => response.write(' '), 10)
      response.on('close', () => clearInterval(timer))
    }
    expect(await poll(dripping, SHORT)).toEqual({
      status: 'error',
      error: 'no complete response within 100 ms',
    })
  })

  it('when a name is not resolved in time, or not at all', async () => {
    const never = () => new Promise<never>(() => {})
    const endpoint = 'http://producer.example/'
    expect(await pollEndpoint(endpoint, SHORT, { clock, resolve: never })).toMatchObject({ status: 'error' })
    const unknown = async () => {
      throw Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' })
    }
    const notFound = { status: 'error', error: 'the connection failed: ENOTFOUND' }
    expect(await pollEndpoint(endpoint, RULES, { clock, resolve: unknown })).toEqual(notFound)
    expect(await pollEndpoint(endpoint, RULES, { clock, resolve: async () => [] })).toEqual(notFound)
  })

  it('when the service stops, before and during', async () => {
    const stopping = new AbortController()
    const { port } = await answering(() => stopping.abort())
    const ask = () => pollEndpoint(`http://127.0.0.1:${port}/`, RULES, { clock, signal: stopping.signal })
    expect(await ask()).toEqual({ status: 'error', error: 'polling was stopped' })
    expect(await ask()).toEqual({ status: 'error', error: 'polling was stopped' })
  })

  it('when nobody listens', async () => {
    const server = createTcpServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    server.close()
    await once(server, 'close')
    const result = await pollEndpoint(`http://127.0.0.1:${port}/`, RULES, { clock })
    expect(result).toEqual({ status: 'error', error: 'the connection failed: ECONNREFUSED' })
  })

  const TOO_LARGE = { status: 'error', error: 'the response is larger than 1048576 bytes' }

  it('by an answer that says it is too large', async () => {
    const result = await poll((_request, response) => {
      response.writeHead(200, { 'content-length': 10_000_000 }).flushHeaders()
    })
    expect(result).toEqual(TOO_LARGE)
  })

  it('by an answer that is too large', async () => {
    let sent = 0
    const result = await poll((_request, response) => {
      const chunk = Buffer.alloc(65_536, ' ')
      const more = (): void => {
        while (sent < 10_000_000 && !response.destroyed) {
          sent += chunk.length
          if (!response.write(chunk)) return
        }
        response.end()
      }
      response.on('drain', more)
      more()
    })
    expect(result).toEqual(TOO_LARGE)
  })

  it('not by one that just fits', async () => {
    const body = BODY.padEnd(1024 * 1024)
    expect((await poll((_request, response) => response.end(body))).status).toBe('rows')
  })

  it.each([
    ['text/html', 'the content type of the response is not JSON'],
    ['application/jsonp', 'the content type of the response is not JSON'],
  ])('by the type %s', async (type, error) => {
    const result = await poll((_request, response) => response.setHeader('content-type', type).end(BODY))
    expect(result).toEqual({ status: 'error', error })
  })

  it('by HTML that calls itself JSON', async () => {
    const result = await poll((_request, response) =>
      response.setHeader('content-type', 'application/json').end('<html>secret</html>'),
    )
    expect(result).toEqual({ status: 'error', error: 'the response is not JSON' })
  })

  it('by a compressed answer', async () => {
    const result = await poll((_request, response) =>
      response.setHeader('content-encoding', 'gzip').end(BODY),
    )
    expect(result).toEqual({ status: 'error', error: 'the response is compressed, which was not asked for' })
  })

  it.each([
    ['no HTTP', ['SSH-2.0-OpenSSH_9.6\r\n']],
    ['an empty answer', ['']],
    ['half a head', ['HTTP/1.1 200 OK\r\nContent-Ty']],
    [
      'garbage for chunks',
      ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', 'zz\r\n[]\r\n0\r\n\r\n'],
    ],
    ['chunks without end', ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', '2\r\n[]\r\n']],
    ['less than was promised', ['HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n', '[]']],
    ['two lengths', ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 9\r\n\r\n', '[]']],
    ['an endless head', [`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}`]],
    [
      'another protocol',
      ['HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n', 'x'],
    ],
  ])('by %s', async (_, parts) => {
    const { port } = await sending(...parts)
    const result = await pollEndpoint(`http://127.0.0.1:${port}/`, RULES, { clock })
    expect(result).toMatchObject({
      status: 'error',
      error: expect.stringMatching(/^the connection failed: [A-Z_]+$/),
    })
  })

  it('and leaves no connection behind', async () => {
    const { port, sockets } = await answering((_request, response) => response.writeHead(403).write('more'))
    await pollEndpoint(`http://127.0.0.1:${port}/`, RULES, { clock })
    const [socket] = sockets
    if (socket !== undefined && !socket.destroyed) await once(socket, 'close')
    expect(socket?.destroyed).toBe(true)
    // The server itself is still there.
    const other = connect(port, '127.0.0.1')
    await once(other, 'connect')
    other.destroy()
  })
})
