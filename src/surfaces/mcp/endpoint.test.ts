import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TOOLS } from '../../core/views/capabilities.ts'
import { startTestServer, VERSION, type TestServer } from '../http/test-server.fixture.ts'
import { callersOf, MODERN_META, modernHeaders } from './caller.fixture.ts'
import { CAPABILITIES_MEMBER, REVISION_MEMBER } from './protocol.ts'

let server: TestServer
let callers: ReturnType<typeof callersOf>
beforeAll(async () => {
  server = await startTestServer()
  callers = callersOf(server)
})
afterAll(() => server.close())

const SERVER_INFO = { name: 'svc', version: VERSION }

const errorOf = ({ body }: { readonly body: Readonly<Record<string, unknown>> }) =>
  body['error'] as { readonly code: number; readonly message: string; readonly data?: unknown }

describe('a message', () => {
  it.each([
    ['not JSON', 'not json', -32_700, null],
    ['empty', '', -32_700, null],
    ['a member named twice', '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', -32_700, null],
    ['an empty batch', '[]', -32_600, null],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32_600, null],
    ['no object', '7', -32_600, null],
    ['no jsonrpc', '{"id":7,"method":"ping"}', -32_600, 7],
    ['another jsonrpc', '{"jsonrpc":"1.0","id":"a","method":"ping"}', -32_600, 'a'],
    ['no method', '{"jsonrpc":"2.0","id":7}', -32_600, 7],
    ['a method that is no text', '{"jsonrpc":"2.0","id":7,"method":1}', -32_600, 7],
    ['the id null', '{"jsonrpc":"2.0","id":null,"method":"ping"}', -32_600, null],
    ['a broken id', '{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32_600, null],
    ['an id that is no name', '{"jsonrpc":"2.0","id":{},"method":"ping"}', -32_600, null],
  ])('%s is refused', async (_what, body, code, id) => {
    const answer = await server.call('POST', '/mcp', { body })
    expect(answer.status).toBe(400)
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(answer.body).toEqual({ jsonrpc: '2.0', id, error: { code, message: expect.any(String) } })
  })

  it.each([
    ['notification', { jsonrpc: '2.0', method: 'notifications/initialized' }],
    ['unknown notification', { jsonrpc: '2.0', method: 'notifications/whatever', params: [] }],
    [
      'modern notification',
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { _meta: MODERN_META } },
    ],
    ['response', { jsonrpc: '2.0', id: 1, result: {} }],
    ['response with an error', { jsonrpc: '2.0', id: null, error: { code: 1, message: '' } }],
  ])('that is a %s is heard, and not answered', async (_what, message) => {
    const answer = await callers.post(message)
    expect([answer.status, answer.text, answer.headers.get('content-type')]).toEqual([202, '', null])
  })

  it('has its id sent back, whatever it is', async () => {
    for (const id of [0, -1, '', 'ü', '1']) {
      expect((await callers.post({ jsonrpc: '2.0', id, method: 'ping' })).body).toEqual({
        jsonrpc: '2.0',
        id,
        result: {},
      })
    }
  })

  it('whose values have no meaning has bad parameters', async () => {
    for (const value of ['"\\ud800"', '1e999', `${'['.repeat(40)}${']'.repeat(40)}`]) {
      const body = `{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"x":${value}}}`
      const answer = await server.call('POST', '/mcp', { body })
      expect([answer.status, answer.body['id'], errorOf(answer).code]).toEqual([200, 5, -32_602])
    }
  })

  it('is taken whatever its sender accepts', async () => {
    for (const accept of ['text/html', 'text/event-stream', 'application/json']) {
      const answer = await callers.call('ping', {}, { accept })
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json'])
      expect(answer.headers.has('mcp-session-id')).toBe(false)
    }
  })
})

describe('a caller that shakes hands', () => {
  it.each([
    ['2025-11-25', '2025-11-25'],
    ['2025-06-18', '2025-06-18'],
    ['2025-03-26', '2025-03-26'],
    ['2024-11-05', '2024-11-05'],
    ['2024-10-07', '2025-11-25'],
    ['2026-07-28', '2025-11-25'],
    ['2099-01-01', '2025-11-25'],
    [undefined, '2025-11-25'],
  ])('and asks for %s gets %s', async (wanted, given) => {
    const params = { protocolVersion: wanted, capabilities: {}, clientInfo: { name: 'c', version: '1' } }
    const answer = await callers.call('initialize', params)
    expect([answer.status, answer.body['result']]).toEqual([
      200,
      { protocolVersion: given, capabilities: { tools: {} }, serverInfo: SERVER_INFO },
    ])
  })

  it('may name the revision it hopes for in the header already', async () => {
    const headers = { 'mcp-protocol-version': '2099-01-01' }
    expect((await callers.call('initialize', {}, headers)).status).toBe(200)
  })
})

describe('a bare caller', () => {
  it('needs neither handshake nor header', async () => {
    const { status, body } = await callers.call('tools/list')
    expect(status).toBe(200)
    const { tools } = body['result'] as { tools: readonly { name: string; inputSchema: { type: string } }[] }
    expect(tools.map(({ name }) => name)).toEqual(TOOLS.map(({ name }) => name))
    expect(new Set(tools.map(({ inputSchema }) => inputSchema.type))).toEqual(new Set(['object']))
    expect(Object.keys(body['result'] as object)).toEqual(['tools'])
  })

  it('may discover what is spoken here', async () => {
    expect((await callers.call('server/discover')).body['result']).toEqual({
      supportedVersions: ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'],
      capabilities: { tools: {} },
      instructions: expect.stringMatching(/\S/),
    })
  })

  it('may name a revision of the handshake, and no unknown one', async () => {
    const named = (revision: string) => callers.call('ping', {}, { 'mcp-protocol-version': revision })
    expect((await named('2025-06-18')).status).toBe(200)
    const unknown = await named('1900-01-01')
    expect([unknown.status, errorOf(unknown)]).toEqual([
      400,
      {
        code: -32_022,
        message: expect.any(String),
        data: {
          supported: ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'],
          requested: '1900-01-01',
        },
      },
    ])
  })

  it('hears of an unknown method with status 200', async () => {
    for (const method of ['nope', 'resources/list', 'subscriptions/listen', 'constructor', '__proto__']) {
      const answer = await callers.call(method)
      expect([method, answer.status, errorOf(answer).code]).toEqual([method, 200, -32_601])
    }
  })

  it.each([
    ['no parameters', undefined],
    ['parameters that are a list', []],
    ['no name', { arguments: {} }],
    ['a name that is no text', { name: 1 }],
    ['an unknown tool', { name: 'rm_rf' }],
    ['a tool of the language', { name: 'toString' }],
    ['arguments that are a list', { name: 'get_brain_status', arguments: [] }],
    ['arguments that are null', { name: 'get_brain_status', arguments: null }],
    ['a missing argument', { name: 'get_signal_attribution', arguments: {} }],
    ['a bad argument', { name: 'get_recent_signals', arguments: { limit: 'all' } }],
  ])('hears of a call with %s with status 200', async (_what, params) => {
    const answer = await callers.call('tools/call', params)
    expect([answer.status, errorOf(answer).code]).toEqual([200, -32_602])
  })
})

const SERVER_INFO_MEMBER = 'io.modelcontextprotocol/serverInfo'

describe('a modern caller', () => {
  const modernMeta = { [SERVER_INFO_MEMBER]: SERVER_INFO }
  const kept = { ttlMs: 60_000, cacheScope: 'private' }

  it('discovers what is spoken here', async () => {
    const { status, body } = await callers.modern('server/discover')
    expect([status, body['result']]).toEqual([
      200,
      {
        supportedVersions: ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'],
        capabilities: { tools: {} },
        instructions: expect.any(String),
        resultType: 'complete',
        _meta: modernMeta,
        ...kept,
      },
    ])
  })

  it('lists tools and calls them', async () => {
    const list = await callers.modern('tools/list')
    expect(list.body['result']).toMatchObject({ resultType: 'complete', _meta: modernMeta, ...kept })
    const called = await callers.modern('tools/call', { name: 'get_brain_status' })
    expect(called.status).toBe(200)
    expect(called.body['result']).toMatchObject({ resultType: 'complete', _meta: modernMeta, isError: false })
    expect(called.body['result']).not.toHaveProperty('ttlMs')
  })

  it.each([
    ['Mcp-Method differs', 'tools/list', {}, { 'mcp-method': 'tools/call' }],
    ['Mcp-Method is missing', 'tools/list', {}, { 'mcp-method': '' }],
    ['MCP-Protocol-Version is missing', 'tools/list', {}, { 'mcp-protocol-version': '' }],
    ['MCP-Protocol-Version differs', 'tools/list', {}, { 'mcp-protocol-version': '2025-11-25' }],
    ['Mcp-Name differs', 'tools/call', { name: 'get_brain_status' }, { 'mcp-name': 'get_open_positions' }],
    ['Mcp-Name is missing', 'tools/call', { name: 'get_brain_status' }, { 'mcp-name': '' }],
    ['Mcp-Name is no text', 'tools/call', { name: 'get_brain_status' }, { 'mcp-name': '=?base64?_?=' }],
  ])('is refused when %s', async (_what, method, params, headers) => {
    const answer = await callers.modern(method, params, headers)
    expect([answer.status, answer.body['id'], errorOf(answer).code]).toEqual([400, 1, -32_020])
  })

  it.each([
    ['no members at all', undefined],
    ['no revision', { [CAPABILITIES_MEMBER]: {} }],
    ['a revision that is no text', { ...MODERN_META, [REVISION_MEMBER]: 20_260_728 }],
    ['no capabilities', { [REVISION_MEMBER]: '2026-07-28' }],
    ['capabilities that are a list', { ...MODERN_META, [CAPABILITIES_MEMBER]: [] }],
  ])('is refused when _meta has %s', async (_what, meta) => {
    const answer = await callers.modern('tools/list', { _meta: meta })
    expect([answer.status, errorOf(answer).code]).toEqual([400, -32_602])
  })

  it('is refused in another revision', async () => {
    for (const revision of ['1900-01-01', '2025-11-25', '2099-01-01']) {
      const answer = await callers.modern(
        'server/discover',
        { _meta: { ...MODERN_META, [REVISION_MEMBER]: revision } },
        { 'mcp-protocol-version': revision },
      )
      expect([answer.status, errorOf(answer)]).toMatchObject([
        400,
        { code: -32_022, data: { requested: revision } },
      ])
    }
  })

  it('is told with 404 of methods that it does not have', async () => {
    for (const method of ['nope', 'ping', 'initialize', 'subscriptions/listen']) {
      const answer = await callers.modern(method)
      expect([method, answer.status, errorOf(answer).code]).toEqual([method, 404, -32_601])
    }
  })

  it('hears of bad arguments with status 200', async () => {
    for (const params of [{ name: 'nope' }, {}, { name: 'get_signal_attribution' }]) {
      const answer = await callers.modern('tools/call', params)
      expect([answer.status, errorOf(answer).code]).toEqual([200, -32_602])
    }
  })

  it('may wrap a name that does not fit into a header', async () => {
    const wrapped = `=?base64?${Buffer.from('get_brain_status').toString('base64')}?=`
    const answer = await callers.modern('tools/call', { name: 'get_brain_status' }, { 'mcp-name': wrapped })
    expect(answer.status).toBe(200)
  })

  it('is known by its header alone, and then lacks the rest', async () => {
    const answer = await callers.call('tools/list', {}, modernHeaders('tools/list'))
    expect([answer.status, errorOf(answer).code]).toEqual([400, -32_602])
  })
})
