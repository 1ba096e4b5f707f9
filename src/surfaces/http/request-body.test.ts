import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectProblem } from './expectations.fixture.ts'
import { startTestServer, TOKEN, type TestServer } from './test-server.fixture.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.close())

const WRITE = { level: 0, reason: 'test' }

const sendThenListen = async (request: string): Promise<string> => {
  const socket = connect(server.port, '127.0.0.1').pause()
  await new Promise<void>((resolve, reject) => {
    socket.on('error', reject)
    socket.write(request, () => resolve())
  })
  return text(socket)
}

describe('the body', () => {
  it('counts as JSON without a type, and may say that it is UTF-8', async () => {
    const send = (headers: Record<string, string>) =>
      new Promise<number | undefined>((resolve, reject) => {
        const options = { method: 'POST', headers: { authorization: `Bearer ${TOKEN}`, ...headers } }
        const request = httpRequest(`${server.baseUrl}/kill-switch`, options, (response) => {
          response.resume()
          resolve(response.statusCode)
        })
        request.on('error', reject)
        request.end(JSON.stringify(WRITE))
      })
    expect(await send({})).toBe(200)
    expect(await send({ 'content-type': '' })).toBe(200)
    expect(await send({ 'content-type': 'Application/JSON; charset="UTF-8"' })).toBe(200)
    expect(await send({ 'content-type': 'application/json;charset=latin1' })).toBe(415)
    expect(await send({ 'content-type': 'nonsense' })).toBe(415)
    expect(await send({ 'content-encoding': 'gzip' })).toBe(415)
  })

  it('is refused with 415 in another type, with 400 if it is no JSON', async () => {
    const plain = { body: JSON.stringify(WRITE), headers: { 'content-type': 'text/plain' } }
    expectProblem(await server.call('POST', '/kill-switch', plain), 'request.unsupported_media_type', 415)
    for (const body of ['{', 'nope', '{"level":1,"level":2}', ' ', Uint8Array.of(0x7b, 0xff)]) {
      expectProblem(await server.call('POST', '/kill-switch', { body }), 'request.malformed_json', 400)
    }
  })

  it('counts as absent when it is empty, whatever its type', async () => {
    for (const type of ['application/json', 'application/x-www-form-urlencoded']) {
      const answer = await server.call('POST', '/kill-switch', {
        body: '',
        headers: { 'content-type': type },
      })
      expectProblem(answer, 'request.invalid', 422)
      expect(answer.body['errors']).toEqual([{ loc: ['body'], msg: 'A body is required', type: 'missing' }])
    }
  })

  it('must be an object', async () => {
    for (const json of [[], 'x', 1, null, true]) {
      const answer = await server.call('POST', '/kill-switch', { json })
      expectProblem(answer, 'request.invalid', 422)
      expect(answer.body['errors']).toMatchObject([{ loc: ['body'], type: 'object_type' }])
    }
  })

  it('may be 1 MiB and not a byte more', async () => {
    const bytes = 1024 * 1024
    const filled = (length: number) => {
      const start = '{"level":0,"reason":"x","filler":"'
      return `${start}${'x'.repeat(length - start.length - 2)}"}`
    }
    expect((await server.call('POST', '/kill-switch', { body: filled(bytes) })).status).toBe(200)
    for (const length of [bytes + 1, 2 * bytes, 6 * bytes]) {
      const answer = await server.call('POST', '/kill-switch', { body: filled(length) })
      expectProblem(answer, 'request.too_large', 413)
      expect(answer.body['limit_bytes']).toBe(bytes)
    }
  })

  it('may be sent as a whole before the answer is read, also on a connection that then closes', async () => {
    const body = 'x'.repeat(4 * 1024 * 1024)
    for (const [authorization, status] of [
      ['', 401],
      [`Authorization: Bearer ${TOKEN}\r\n`, 413],
    ] as const) {
      const head = `POST /api/v1/kill-switch HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${authorization}`
      const answer = await sendThenListen(`${head}Content-Length: ${body.length}\r\n\r\n${body}`)
      expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    }
  })

  it('names all faults of values that mean nothing here', async () => {
    const answer = await server.call('POST', '/kill-switch', { body: '{"level":1e999,"reason":"\\ud800"}' })
    expectProblem(answer, 'request.invalid', 422)
    expect(answer.body['errors']).toMatchObject([
      { loc: ['body', 'level'], type: 'number_not_finite' },
      { loc: ['body', 'reason'], type: 'unicode_invalid' },
    ])
  })

  it('is ignored where nothing is asked for', async () => {
    const answer = await server.raw(
      `GET /api/v1/health HTTP/1.1\r\nHost: x\r\nContent-Type: ;;\r\nContent-Length: 3\r\nConnection: close\r\n\r\n{{{`,
    )
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  })
})

describe('slow requests', () => {
  let impatient: TestServer
  beforeAll(async () => {
    impatient = await startTestServer({
      limits: { headersTimeoutMs: 400, bodyTimeoutMs: 400, slowCheckMs: 20 },
    })
  })
  afterAll(() => impatient.close())

  it('are ended with 408 while the headers are missing', async () => {
    const answer = await impatient.raw('GET /api/v1/health HTTP/1.1\r\nHost: x\r\nX-Slow')
    expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/)
    expect(answer).toContain('"code":"request.timeout"')
    expect(answer).toMatch(/x-request-id/i)
  })

  it('are ended with 408 while the body is missing', async () => {
    const answer = await impatient.raw(
      `POST /api/v1/kill-switch HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Length: 20\r\n\r\n{"lev`,
    )
    expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/)
    expect(answer).toContain('"code":"request.timeout"')
    expect(answer).toMatch(/x-request-id/i)
  })

  it('leave nothing behind when the client goes away in the middle', async () => {
    const socket = connect(impatient.port, '127.0.0.1')
    socket.write(
      `POST /api/v1/kill-switch HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Length: 20\r\n\r\n{"lev`,
    )
    await sleep(30)
    socket.destroy()
    await sleep(150)
    expect((await impatient.call('GET', '/health')).status).toBe(200)
    expect(impatient.logLines.join('')).not.toContain('"level":"ERROR"')
  })

  it('may send more than is read, and still hear why not', async () => {
    const socket = connect(impatient.port, '127.0.0.1')
    const answer = text(socket)
    socket.write(
      `POST /api/v1/kill-switch HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\nTransfer-Encoding: chunked\r\n\r\n`,
    )
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
    for (let sent = 0; sent < 20; sent += 1) socket.write(chunk)
    expect(await answer).toMatch(/^HTTP\/1\.1 413 Content Too Large\r\n/)
  })
})
