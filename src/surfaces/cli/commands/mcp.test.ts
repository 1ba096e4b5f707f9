import fc from 'fast-check'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testSigner } from '../../../../test/signer.fixture.ts'
import type { Signer } from '../../../ports/signer.ts'
import { TOOLS } from '../../../core/views/capabilities.ts'
import { startTestServer, type TestServer, TOKEN } from '../../http/test-server.fixture.ts'
import { connectionEnd, serviceProofText } from '../../service-proof.ts'
import { openTestHome, type RunOptions, type TestHome } from '../test-home.fixture.ts'
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
  dependencies: RunOptions['dependencies'] = {},
): Promise<readonly Answer[]> => {
  const stdin = lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('')
  const { exitCode, stdout, stderr } = await home.run(['mcp'], { stdin, environment, dependencies })
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

  it('sends a token to the service that the operator names, and that of this home to no other', async () => {
    const seen: (string | undefined)[] = []
    const other = await listening((authorization) => seen.push(authorization))
    const { port } = other.address() as AddressInfo
    const ofHome = { SVC_API__AUTH_TOKEN: TOKEN, SVC_API__PORT: String(port) }
    const named = { ...ofHome, SVC_API_BASE_URL: `http://127.0.0.1:${port}/x/` }
    await answersTo([request(1, 'ping')], named)
    await answersTo([request(1, 'ping')], { ...named, SVC_API_TOKEN: 'named' })
    await closed(other)
    expect(seen).toEqual([undefined, 'Bearer named'])
  })

  describe('without an address', () => {
    const tokenOfHome = { SVC_API__AUTH_TOKEN: TOKEN }
    const foundAt = (baseUrl: string) => ({
      findService: () => Promise.resolve({ baseUrl, version: '1', uptimeSeconds: 1 }),
    })

    beforeAll(async () => {
      // The home of the service: of its identity commands need the public half alone.
      const { nodeId: node_id, publicKey: public_key } = testSigner()
      const saved = { node_id, public_key, alg: 'ed25519', created_at: '2026-02-20T00:00:00Z' }
      const secret = { private_key: '0'.repeat(64), warning: 'not the key of anything' }
      await mkdir(join(home.folder, 'identity'), { recursive: true, mode: 0o700 })
      await writeFile(identityFile(), JSON.stringify({ ...saved, ...secret }), { mode: 0o600 })
    })
    const identityFile = () => join(home.folder, 'identity', 'identity.json')

    it('leads to the service of this home, found by its file or at the port of the settings', async () => {
      const messages = [request(1, 'ping'), request(2, 'ping')]
      const answers = [
        { id: 1, result: {} },
        { id: 2, result: {} },
      ]
      expect(await answersTo(messages, tokenOfHome, foundAt(server.baseUrl))).toMatchObject(answers)
      const atPort = { ...tokenOfHome, SVC_API__PORT: String(server.port) }
      expect(await answersTo(messages, atPort)).toMatchObject(answers)
    })

    it.each([
      ['that answers everything', () => listening((token) => tokens.push(token))],
      ['that has the key of another node', () => relaying(proofOf(testSigner(2)))],
      ['that passes the question on to the real one', () => relaying((url) => fetch(server.rootUrl + url))],
      [
        'that passes it on and names the address of the question',
        () => relaying(async (url, address) => withAddress(await fetch(server.rootUrl + url), address)),
      ],
    ])('sends nothing secret to a program %s', async (_, start) => {
      tokens.splice(0)
      const fake = await start()
      const baseUrl = `http://127.0.0.1:${(fake.address() as AddressInfo).port}/api/v1`
      for (const environment of [tokenOfHome, { ...tokenOfHome, SVC_API_TOKEN: 'named' }]) {
        const answers = await answersTo([request(1, 'ping')], environment, foundAt(baseUrl))
        const error = { code: -32_000, message: expect.stringContaining('no token was sent') as string }
        expect(answers).toMatchObject([{ id: 1, error }])
      }
      await closed(fake)
      expect(tokens.length).toBeGreaterThan(0)
      expect(tokens.filter((token) => token !== undefined)).toEqual([])
    })

    it('sends nothing secret once the connection is another one than that of the proof', async () => {
      tokens.splice(0)
      const signer = testSigner()
      const closing = createServer((incoming, response) => {
        tokens.push(incoming.headers.authorization)
        const { nonce, address } = askedIn(incoming)
        const body = {
          node_id: signer.nodeId,
          address,
          signature: signer.sign(serviceProofText(nonce, address)),
        }
        response.writeHead(200, { connection: 'close' }).end(JSON.stringify(body))
      })
      await new Promise<void>((resolve) => void closing.listen(0, '127.0.0.1', resolve))
      const baseUrl = `http://127.0.0.1:${(closing.address() as AddressInfo).port}/api/v1`
      const answers = await answersTo([request(1, 'ping')], tokenOfHome, foundAt(baseUrl))
      await closed(closing)
      expect(answers).toMatchObject([{ error: { message: expect.stringContaining('no token was sent') } }])
      expect(tokens).toEqual([undefined])
    })

    it('sends nothing secret from a home without an identity, and says what to do', async () => {
      const saved = await readFile(identityFile())
      await rm(identityFile())
      const [answer] = await answersTo([request(1, 'ping')], tokenOfHome, foundAt(server.baseUrl))
      await writeFile(identityFile(), saved, { mode: 0o600 })
      expect(JSON.stringify(answer)).toMatch(/no saved identity.*set SVC_API_BASE_URL and SVC_API_TOKEN/)
    })
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
    await Promise.all([elsewhere, mover].map(closed))
    expect(answers).toMatchObject([{ id: 1, error: { code: -32_000 } }])
    expect(seen).toEqual([])
  })
})

const closed = (one: Server): Promise<unknown> => new Promise((resolve) => one.close(resolve))

/** Authorization headers received by a program that is not the service. */
const tokens: (string | undefined)[] = []

const askedIn = ({ url = '', socket }: IncomingMessage) => ({
  nonce: new URL(url, 'http://x').searchParams.get('nonce') ?? '',
  address: connectionEnd(socket.localAddress, socket.localPort),
})

/** A program that answers what `answerTo` finds for a path and the address of the connection. */
const relaying = async (answerTo: (url: string, address: string) => Promise<Response>): Promise<Server> => {
  const relay = createServer((incoming, response) => {
    tokens.push(incoming.headers.authorization)
    answerTo(incoming.url ?? '', askedIn(incoming).address)
      .then(async (answer) => response.writeHead(answer.status).end(await answer.text()))
      .catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => void relay.listen(0, '127.0.0.1', resolve))
  return relay
}

const proofOf = (signer: Signer) => (url: string, address: string) => {
  const nonce = new URL(url, 'http://x').searchParams.get('nonce') ?? ''
  const signature = signer.sign(serviceProofText(nonce, address))
  return Promise.resolve(Response.json({ node_id: signer.nodeId, address, signature }))
}

const withAddress = async (answer: Response, address: string): Promise<Response> =>
  Response.json({ ...((await answer.json()) as object), address })

/** A foreign service that records tokens, and may redirect callers. */
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
