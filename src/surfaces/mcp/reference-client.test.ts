import { registration } from '../../engine/engine.fixture.ts'
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport, type ClientOptions } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startTestServer, TOKEN, VERSION, type TestServer } from '../http/test-server.fixture.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
  await server.engine.execute(registration('p1'))
})
afterAll(() => server.close())

const open: Client[] = []
afterEach(() => Promise.all(open.splice(0).map((client) => client.close())))

type Negotiation = NonNullable<ClientOptions['versionNegotiation']>
type Way = 'http' | 'pipe'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

const transportOf = (way: Way) =>
  way === 'http'
    ? new StreamableHTTPClientTransport(new URL(`${server.baseUrl}/mcp`), {
        requestInit: { headers: { authorization: `Bearer ${TOKEN}` } },
      })
    : new StdioClientTransport({
        command: process.execPath,
        args: ['bin/svc.js', 'mcp'],
        cwd: ROOT,
        env: { SVC_API_BASE_URL: server.baseUrl, SVC_API_TOKEN: TOKEN },
      })

const connect = async (way: Way, mode: NonNullable<Negotiation['mode']>): Promise<Client> => {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  await client.connect(transportOf(way))
  open.push(client)
  return client
}

const generations = [
  ['handshake', 'legacy', '2025-11-25'],
  ['modern', { pin: '2026-07-28' }, '2026-07-28'],
] as const

describe.each(generations)('the reference client, %s', (_generation, mode, revision) => {
  it('agrees on a revision and learns who we are', async () => {
    const client = await connect('http', mode)
    expect(client.getNegotiatedProtocolVersion()).toBe(revision)
    expect(client.getServerVersion()).toEqual({ name: 'svc', version: VERSION })
    expect(client.getServerCapabilities()).toEqual({ tools: {} })
  })

  it('finds every tool described, and results as described', async () => {
    const client = await connect('http', mode)
    const { tools } = await client.listTools()
    expect(tools).toHaveLength(28)
    for (const { description, inputSchema, outputSchema, annotations } of tools) {
      expect(description).toMatch(/\S/)
      expect([inputSchema.type, outputSchema?.['type']]).toEqual(['object', 'object'])
      expect(annotations?.openWorldHint).toBe(false)
    }
    expect(
      tools.filter(({ annotations }) => annotations?.readOnlyHint !== true).map(({ name }) => name),
    ).toEqual([
      'emit_producer_signal',
      'close_position',
      'close_all_positions',
      'cancel_order',
      'approve_intent',
      'deny_intent',
      'set_kill_switch',
      'acknowledge_alerts',
      'run_backtest',
      'run_sweep',
    ])
    // Having listed the tools, the client compares each result with the schema of its tool.
    const emitted = await client.callTool({
      name: 'emit_producer_signal',
      arguments: {
        producer_id: 'p1',
        signal_type: 'signal.ta.v1',
        payload: { symbol: 'BTC' },
      },
    })
    expect(emitted.isError).toBe(false)
    const { event_id: signalId } = emitted.structuredContent as { event_id: string }
    const calls = [
      { name: 'get_brain_status' },
      { name: 'get_recent_signals', arguments: { limit: 5, domain: 'ta' } },
      { name: 'get_open_positions', arguments: {} },
      { name: 'get_signal_attribution', arguments: { signal_id: signalId } },
      { name: 'svc_provenance_check', arguments: { producer_id: 'technical-analysis' } },
      { name: 'svc_provenance_check', arguments: { producer_id: 'nobody' } },
    ]
    for (const call of calls) {
      const { isError, content } = await client.callTool(call)
      expect([call.name, isError, content[0]?.type]).toEqual([call.name, false, 'text'])
    }
  })

  it('is told of what failed', async () => {
    const client = await connect('http', mode)
    await client.listTools()
    const missing = await client.callTool({ name: 'get_signal_attribution', arguments: { signal_id: 'x' } })
    expect([missing.isError, missing.structuredContent]).toEqual([
      true,
      { error: 'signal_not_found', signal_id: 'x' },
    ])
    await expect(client.callTool({ name: 'get_signal_attribution', arguments: {} })).rejects.toMatchObject({
      code: -32_602,
    })
    await expect(client.callTool({ name: 'nope' })).rejects.toMatchObject({ code: -32_602 })
  })
})

describe('the reference client', () => {
  it('prefers the newest revision where it may choose', async () => {
    const client = await connect('http', 'auto')
    expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28')
  })

  it('is refused a revision that is not supported', async () => {
    await expect(connect('http', { pin: '2027-01-01' })).rejects.toThrow(/not supported/)
  })

  it('is served on a pipe as well', async () => {
    const client = await connect('pipe', { pin: '2026-07-28' })
    const { structuredContent } = await client.callTool({ name: 'get_brain_status' })
    expect(structuredContent).toMatchObject({ kill_switch_level: 0 })
  })
})
