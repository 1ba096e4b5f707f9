import fc from 'fast-check'
import { createServer, type Server } from 'node:http'
import { type AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TOOLS } from '../../../core/views/capabilities.ts'
import { startTestServer, type TestServer, TOKEN } from '../../http/test-server.fixture.ts'
import { openTestHome, type TestHome } from '../test-home.fixture.ts'
import { messagesIn } from './mcp.ts'

let server: TestServer
let home: TestHome
beforeAll(async () => {
  server = await startTestServer()
  home = await openTestHome()
})
afterAll(async () => {
  await home.close()
  await server.close()
})

type Answer = Readonly<Record<string, unknown>>

const answersTo = async (
  lines: readonly (string | object)[],
  environment: Readonly<Record<string, string>> = {
    SVC_API_BASE_URL: server.baseUrl,
    SVC_API_TOKEN: TOKEN,
  },
): Promise<readonly Answer[]> => {
  const stdin = lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('')
  const { exitCode, stdout, stderr } = await home.run(['mcp'], { stdin, environment })
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Answer)
}

const request = (id: number, method: string, params: object = {}) => ({ jsonrpc: '2.0', id, method, params })

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}

describe('svc mcp', () => {
  it('answers each message with one line, in order', async () => {
    const answers = await answersTo([
      request(1, 'initialize', { protocolVersion: '2025-06-18' }),
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      '',
      request(2, 'tools/list'),
      request(3, 'tools/call', { name: 'get_brain_status' }),
    ])
    expect(answers).toMatchObject([
      { id: 1, result: { protocolVersion: '2025-06-18' } },
      {
        id: 2,
        result: { tools: TOOLS.map(({ name }) => ({ name })) },
      },
      { id: 3, result: { structuredContent: { kill_switch_level: 0 }, isError: false } },
    ])
  })

  it('says in headers what a message of the newest revision says of itself', async () => {
    const answers = await answersTo([
      request(1, 'server/discover', { _meta: META }),
      request(2, 'tools/call', { name: 'get_brain_status', _meta: META }),
      request(3, 'tools/call', { name: 'grüße', _meta: META }),
    ])
    expect(answers).toMatchObject([
      {
        id: 1,
        result: { resultType: 'complete', supportedVersions: expect.arrayContaining(['2026-07-28']) },
      },
      { id: 2, result: { resultType: 'complete', isError: false } },
      { id: 3, error: { code: -32_602 } },
    ])
  })

  it('passes on what the service says of a message that makes no sense', async () => {
    expect(await answersTo(['not json', '[]', { jsonrpc: '2.0', id: 7 }])).toMatchObject([
      { id: null, error: { code: -32_700 } },
      { id: null, error: { code: -32_600 } },
      { id: 7, error: { code: -32_600 } },
    ])
  })

  it('tells of a refusal in the words of the protocol, and never of a notification', async () => {
    const answers = await answersTo(
      [request(1, 'ping'), { jsonrpc: '2.0', method: 'notifications/initialized' }],
      { SVC_API_BASE_URL: server.baseUrl, SVC_API_TOKEN: 'wrong' },
    )
    expect(answers).toEqual([
      {
        jsonrpc: '2.0',
        id: 1,
        error: {
          code: -32_000,
          message: 'the service answered 401: The bearer token is not valid',
          data: { status: 401, code: 'auth.invalid_token' },
        },
      },
    ])
  })

  it('tells when nobody answers, without the token', async () => {
    const token = 'secret\u0001token-that-nobody-should-see'
    const answers = await answersTo([request(1, 'ping'), { jsonrpc: '2.0', id: 2, result: {} }], {
      SVC_API_BASE_URL: 'http://127.0.0.1:1/api/v1',
      SVC_API_TOKEN: token,
    })
    expect(answers).toMatchObject([{ id: 1, error: { code: -32_000 } }])
    expect(JSON.stringify(answers)).not.toContain('nobody-should-see')
  })

  it('does not send a line that no service would take', async () => {
    const answers = await answersTo([
      JSON.stringify(request(1, 'ping', { filler: 'x'.repeat(1024 * 1024) })),
      request(2, 'ping'),
    ])
    expect(answers).toMatchObject([
      { id: null, error: { code: -32_000 } },
      { id: 2, result: {} },
    ])
  })

  it('takes the token of this home for the service of this home, and for no other', async () => {
    const seen: (string | undefined)[] = []
    const other = await listening((authorization) => seen.push(authorization))
    const { port } = other.address() as AddressInfo
    const ofHome = { SVC_API__AUTH_TOKEN: TOKEN, SVC_API__PORT: String(port) }
    await answersTo([request(1, 'ping')], ofHome)
    await answersTo([request(1, 'ping')], { ...ofHome, SVC_API_BASE_URL: `http://127.0.0.1:${port}/x/` })
    await answersTo([request(1, 'ping')], { ...ofHome, SVC_API_TOKEN: 'named' })
    await new Promise((resolve) => other.close(resolve))
    expect(seen).toEqual([`Bearer ${TOKEN}`, undefined, 'Bearer named'])
  })

  it('does not follow the service elsewhere', async () => {
    const seen: (string | undefined)[] = []
    const elsewhere = await listening((authorization) => seen.push(authorization))
    const target = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/mcp`
    const mover = await listening(() => undefined, target)
    const { port } = mover.address() as AddressInfo
    const answers = await answersTo([request(1, 'ping')], {
      SVC_API_BASE_URL: `http://127.0.0.1:${port}`,
      SVC_API_TOKEN: TOKEN,
    })
    await Promise.all([elsewhere, mover].map((one) => new Promise((resolve) => one.close(resolve))))
    expect(answers).toMatchObject([{ id: 1, error: { code: -32_000 } }])
    expect(seen).toEqual([])
  })
})

/** A service of somebody else: it notes tokens, and may send callers on. */
const listening = (onToken: (authorization: string | undefined) => void, moveTo?: string): Promise<Server> =>
  new Promise((resolve) => {
    const somebody = createServer((incoming, response) => {
      onToken(incoming.headers.authorization)
      incoming.resume()
      if (moveTo === undefined) response.writeHead(200).end('{"jsonrpc":"2.0","id":1,"result":{}}')
      else response.writeHead(307, { location: moveTo }).end()
    })
    somebody.listen(0, '127.0.0.1', () => resolve(somebody))
  })

describe('messages on standard input', () => {
  const linesOf = async (chunks: readonly Buffer[], bytesMax = 100): Promise<readonly (string | null)[]> => {
    const lines: (string | null)[] = []
    for await (const line of messagesIn(Readable.from(chunks), bytesMax)) lines.push(line)
    return lines
  }

  describe('messages on standard input', () => {
    it('stand one on a line, wherever the pieces end', async () => {
      const texts = fc.array(fc.string({ unit: 'grapheme', maxLength: 8 }).filter(isOneWord), {
        maxLength: 5,
      })
      await fc.assert(
        fc.asyncProperty(texts, fc.integer({ min: 1, max: 9 }), fc.boolean(), async (sent, size, ended) => {
          const bytes = Buffer.from(sent.join('\n') + (ended ? '\n' : ''))
          const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
            bytes.subarray(index * size, (index + 1) * size),
          )
          expect(await linesOf(chunks, 1000)).toEqual(sent)
        }),
      )
    })

    it('may be separated by more than one line end', async () => {
      expect(await linesOf([Buffer.from('\n\r\n{}\r\n \n1')])).toEqual(['{}', '1'])
    })

    it('are thrown away when they are too long, and the next one is read', async () => {
      const long = Buffer.alloc(101, 'x')
      const lines = await linesOf([long.subarray(0, 60), long.subarray(60), Buffer.from('\n{}\n')])
      expect(lines).toEqual([null, '{}'])
      expect(await linesOf([long])).toEqual([null])
      expect(await linesOf([Buffer.alloc(100, 'x')])).toEqual(['x'.repeat(100)])
    })
  })

  const isOneWord = (text: string): boolean => text !== '' && text.trim() === text && !/[\n\r]/.test(text)
})
