import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { OPERATOR } from '../caller.ts'
import { startTestServer, type TestServer } from '../http/test-server.fixture.ts'
import type { McpHeaders } from '../mcp-exchange.ts'
import { CAPABILITIES_MEMBER, REVISION_MEMBER } from './protocol.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.close())

const reference = createMcpHandler(
  () => {
    const mcp = new McpServer({ name: 'reference', version: '1' })
    mcp.registerTool('get_brain_status', {}, () => ({ content: [] }))
    return mcp
  },
  { legacy: 'reject' },
)

interface Sent {
  readonly message: object
  readonly headers: McpHeaders
}

/** Status and error code of a response. The code is null for success. */
type Verdict = readonly [number, number | null]

const judgedByReference = async ({ message, headers }: Sent): Promise<Verdict> => {
  const { protocolVersion, method, name } = headers
  const response = await reference.fetch(
    new Request('http://127.0.0.1/mcp', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(protocolVersion === null ? {} : { 'mcp-protocol-version': protocolVersion }),
        ...(method === null ? {} : { 'mcp-method': method }),
        ...(name === null ? {} : { 'mcp-name': name }),
      },
      body: JSON.stringify(message),
    }),
  )
  return verdictOf(response.status, await response.json())
}

const judgedByUs = async ({ message, headers }: Sent): Promise<Verdict> => {
  const body = { status: 'parsed', value: message } as const
  const reply = await server.mcp({
    body,
    headers,
    traceId: null,
    requestId: 'r',
    caller: OPERATOR,
  })
  return verdictOf(reply.status, reply.body)
}

const verdictOf = (status: number, body: unknown): Verdict => [
  status,
  (body as { error?: { code: number } }).error?.code ?? null,
]

const REVISIONS = ['2026-07-28', '2025-11-25', '1900-01-01'] as const
const METHODS = ['tools/list', 'tools/call', 'server/discover', 'ping', 'nope'] as const
const NAMES = ['get_brain_status', 'unknown'] as const

const orNothing = <Value>(...values: readonly Value[]) => fc.constantFrom(null, ...values)

const mostly = fc.constantFrom(true, true, true, false)

/** Mostly valid requests, so that the later checks are reached as well. */
const sent: fc.Arbitrary<Sent> = fc
  .record({
    method: fc.constantFrom(...METHODS),
    name: fc.constantFrom(undefined, ...NAMES, 7),
    revision: fc.constantFrom(undefined, ...REVISIONS, REVISIONS[0], REVISIONS[0], 7),
    capabilities: fc.constantFrom({}, {}, {}, undefined, 'all'),
    otherRevision: orNothing(...REVISIONS),
    otherMethod: orNothing(...METHODS),
    otherName: orNothing<string>(...NAMES, '=?base64?dW5rbm93bg==?=', '=?base64?x?='),
    isHonest: fc.tuple(mostly, mostly, mostly),
  })
  .map(({ method, name, revision, capabilities, otherRevision, otherMethod, otherName, isHonest }) => {
    const meta = { [REVISION_MEMBER]: revision, [CAPABILITIES_MEMBER]: capabilities }
    const [honestRevision, honestMethod, honestName] = isHonest
    const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)
    return {
      // The message as received: members that are undefined are absent.
      message: JSON.parse(
        JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { name, _meta: meta } }),
      ) as object,
      headers: {
        protocolVersion: honestRevision ? textOf(revision) : otherRevision,
        method: honestMethod ? method : otherMethod,
        name: honestName ? textOf(name) : otherName,
      },
    }
  })
  // Other rules apply to requests that are not modern.
  .filter(
    ({ message, headers }) =>
      JSON.stringify(message).includes(REVISION_MEMBER) || headers.protocolVersion === '2026-07-28',
  )

it('judges modern requests as the reference server does', async () => {
  const verdicts = new Set<string>()
  await fc.assert(
    fc.asyncProperty(sent, async (one) => {
      const verdict = await judgedByUs(one)
      verdicts.add(String(verdict))
      expect(verdict).toEqual(await judgedByReference(one))
    }),
    { numRuns: 500 },
  )
  for (const verdict of ['200,', '200,-32602', '400,-32602', '400,-32020', '400,-32022', '404,-32601']) {
    expect(verdicts).toContain(verdict)
  }
})
