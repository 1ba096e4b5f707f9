import { beforeAll, expect, it } from 'vitest'
import { emit, registerProducer, type EventItem } from './acts.ts'
import { rawCall } from './raw-call.ts'
import { newHome, startService, type Answer, type RunningService, type Variables } from './service.ts'
import { onDefaultStore } from './stores.ts'

const TOOLS = [
  'get_brain_status',
  'get_recent_signals',
  'get_open_positions',
  'get_signal_attribution',
  'emit_producer_signal',
  'svc_provenance_check',
  'explain_decision',
  'explain_author',
  'get_portfolio',
  'get_orders',
  'get_intents',
  'get_weights',
  'get_treasury',
  'get_symbols',
  'get_prices',
  'get_bars',
  'get_alerts',
  'close_position',
  'close_all_positions',
  'cancel_order',
  'approve_intent',
  'deny_intent',
  'set_kill_switch',
  'acknowledge_alerts',
  'run_backtest',
  'get_backtest',
  'run_sweep',
  'get_sweep',
]

const REVISION = 'io.modelcontextprotocol/protocolVersion'
const META = { [REVISION]: '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} }
const MODERN = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'server/discover' }

interface ToolAnswer {
  readonly result?: {
    readonly content: readonly { readonly text: string }[]
    readonly structuredContent: Readonly<Record<string, unknown>>
    readonly isError: boolean
  }
  readonly error?: { readonly code: number }
}

onDefaultStore('MCP', (store) => {
  let service: RunningService
  beforeAll(async () => {
    service = await startService(await newHome(), await store())
    await registerProducer(service, 'p1', 'technical')
  })
  const post = (body: unknown, headers: Variables = {}): Promise<Answer> =>
    service.call('POST', '/mcp', { body, headers })
  const ask = (method: string, params: object = {}, headers: Variables = {}): Promise<Answer> =>
    post({ jsonrpc: '2.0', id: 'ask-1', method, params }, headers)
  const tool = async (name: string, args: object = {}): Promise<ToolAnswer> =>
    (await ask('tools/call', { name, arguments: args })).body
  const totalOf = async (domain: string): Promise<number> =>
    ((await service.call('GET', `/signals?domain=${domain}`)).body as { total: number }).total

  it('lists its tools to anybody who has the token', async () => {
    const message = { jsonrpc: '2.0', id: 7, method: 'tools/list' }
    const headers = { 'content-type': 'application/json' }
    const { status, text } = await rawCall(service, '/mcp', headers, JSON.stringify(message))
    expect(status).toBe(200)
    const { id, result } = JSON.parse(text) as {
      id: number
      result: { tools: readonly { name: string; inputSchema: { type: string } }[] }
    }
    expect(id).toBe(7)
    expect(result.tools.map(({ name }) => name).slice(0, TOOLS.length)).toEqual(TOOLS)
    expect(new Set(result.tools.map(({ inputSchema }) => inputSchema.type))).toEqual(new Set(['object']))
  })

  it.each([
    ['2025-06-18', '2025-06-18'],
    ['2024-11-05', '2024-11-05'],
    ['2099-01-01', '2025-11-25'],
  ])('greets a client of %s with %s', async (asked, answered) => {
    const clientInfo = { name: 'test', version: '1' }
    const { body } = await ask('initialize', { protocolVersion: asked, capabilities: {}, clientInfo })
    expect(body).toMatchObject({ result: { protocolVersion: answered, capabilities: { tools: {} } } })
  })

  it('speaks the newest revision', async () => {
    const discovered = await ask('server/discover', { _meta: META }, MODERN)
    expect(discovered.status).toBe(200)
    expect(discovered.body).toMatchObject({
      result: { supportedVersions: expect.any(Array), resultType: 'complete' },
    })
    expect((discovered.body as { result: { supportedVersions: string[] } }).result.supportedVersions[0]).toBe(
      '2026-07-28',
    )
    const other = await ask('server/discover', { _meta: META }, { ...MODERN, 'mcp-method': 'tools/list' })
    expect(other.status).toBe(400)
    expect(other.body).toMatchObject({ error: { code: -32_020 } })
    const old = await ask(
      'server/discover',
      { _meta: { ...META, [REVISION]: '1900-01-01' } },
      { ...MODERN, 'mcp-protocol-version': '1900-01-01' },
    )
    expect(old.status).toBe(400)
    expect(old.body).toMatchObject({ error: { code: -32_022 } })
  })

  it('tells the status as text and as data', async () => {
    const { result } = await tool('get_brain_status')
    expect(JSON.parse(result?.content[0]?.text ?? '')).toEqual(result?.structuredContent)
    expect(result).toMatchObject({ isError: false, structuredContent: { kill_switch_level: 0 } })
  })

  it('stores what a producer says', async () => {
    const id = await emit(service, 'p1', 'signal.ta.v1', { symbol: 'BTC' })
    const { items } = (await service.call('GET', '/signals?domain=ta')).body as { items: EventItem[] }
    expect(items).toMatchObject([{ id, type: 'signal.ta.v1', source: 'p1', payload: { symbol: 'BTC' } }])
    const words = { producer_id: 'p1', signal_type: 'signal.ta.v1', payload: { symbol: 'BTC' } }
    const wrongType = await tool('emit_producer_signal', { ...words, signal_type: 'brain.cycle.v1' })
    expect(wrongType.error?.code).toBe(-32_602)
    const stranger = await tool('emit_producer_signal', { ...words, producer_id: 'nobody' })
    expect(stranger.result).toMatchObject({
      isError: true,
      structuredContent: { error: 'producer_not_found' },
    })
    expect(await totalOf('')).toBe(1)
  })

  it('shows the newest signals', async () => {
    const newest = await emit(service, 'p1', 'signal.ta.v1', { symbol: 'ETH' })
    const { result } = await tool('get_recent_signals', { limit: 1 })
    const items = JSON.parse(result?.content[0]?.text ?? '') as EventItem[]
    expect(items.map(({ id }) => id)).toEqual([newest])
    expect(result?.structuredContent).toEqual({ items })
    const none = await tool('get_recent_signals', { domain: 'brain' })
    expect(none.result).toMatchObject({ content: [{ text: '[]' }], structuredContent: { items: [] } })
  })

  it('attribution needs a signal that exists', async () => {
    expect((await tool('get_signal_attribution')).error?.code).toBe(-32_602)
    expect((await tool('get_signal_attribution', { signal_id: 'none' })).result).toMatchObject({
      isError: true,
      structuredContent: { error: 'signal_not_found', signal_id: 'none' },
    })
  })

  it.each([
    [{ jsonrpc: '2.0', id: 1, method: 'no/such' }, 200, -32_601, 1],
    ['not json', 400, -32_700, null],
    [[], 400, -32_600, null],
    [{ id: 1, method: 'ping' }, 400, -32_600, 1],
    [{ jsonrpc: '2.0', id: 1, method: 'tools/call', params: {} }, 200, -32_602, 1],
    [{ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'no_such' } }, 200, -32_602, 1],
  ])('%j is answered with %i and %i', async (body, status, code, id) => {
    const answer = await post(body)
    expect(answer.status).toBe(status)
    expect(answer.body).toMatchObject({ jsonrpc: '2.0', id, error: { code } })
  })

  it('takes notifications without a word, and only POST', async () => {
    const noted = await post({ jsonrpc: '2.0', method: 'notifications/initialized' })
    expect([noted.status, noted.text]).toEqual([202, ''])
    expect((await service.call('GET', '/mcp')).status).toBe(405)
  })
})
