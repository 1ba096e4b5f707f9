import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROUTES } from './routes/all.ts'
import { startTestServer, type TestServer } from './test-server.fixture.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.close())

const HOSTILE = `\u001b[31m\nok: true\r\n\u202E${'x'.repeat(5000)}`

/** Every text in a response, names of members included. */
const textsIn = (value: unknown): readonly string[] => {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => [name, ...textsIn(member)])
}

const expectHarmless = (body: unknown, place: string): void => {
  for (const text of textsIn(body)) {
    expect(text, place).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
    expect(text, place).not.toContain('x'.repeat(201))
  }
}

describe('input in an error is one line, without control characters, and cut', () => {
  it('in paths of every route', async () => {
    const hostile = encodeURIComponent(HOSTILE.slice(0, 1500))
    for (const { method, path, url, streams } of ROUTES) {
      if (!url.includes(':') || streams === true) continue
      const target = path.replaceAll(/:\w+/g, hostile)
      const { status, body } = await server.call(
        method,
        target,
        method === 'GET' ? {} : { json: { trace_id: 't' } },
      )
      expect(status, `${method} ${path}`).toBeLessThan(500)
      // These routes answer for any symbol, known or not: the answer is no error.
      if (path.startsWith('/oracle/')) continue
      expectHarmless(body, `${method} ${path}`)
    }
  })

  it.each([
    [
      '/signals/submit',
      { [HOSTILE]: 1, event_type: HOSTILE, source: HOSTILE, payload: { [HOSTILE]: HOSTILE } },
    ],
    ['/signals/submit', { event_type: HOSTILE, source: 'n', payload: {} }],
    ['/config', { [HOSTILE]: { [HOSTILE]: 1 }, execution: { mode: HOSTILE, [HOSTILE]: 1 } }],
    ['/config/validate', { weights: { [HOSTILE]: HOSTILE } }],
    ['/producers/register', { name: HOSTILE, domain: HOSTILE, endpoint: HOSTILE, schedule: HOSTILE }],
    ['/contributors/register', { node_id: HOSTILE, name: HOSTILE, metadata: { [HOSTILE]: 1 } }],
    ['/karma/settle', { intent_ids: [HOSTILE, HOSTILE.slice(0, 60)] }],
    ['/kill-switch', { level: HOSTILE, reason: HOSTILE, [HOSTILE]: 1 }],
    ['/mcp', { jsonrpc: '2.0', id: 1, method: HOSTILE, params: { [HOSTILE]: HOSTILE } }],
    ['/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: HOSTILE } }],
    [
      '/mcp',
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'explain_decision', arguments: { id: HOSTILE } },
      },
    ],
    [
      '/mcp',
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/list',
        params: {
          _meta: {
            'io.modelcontextprotocol/protocolVersion': HOSTILE,
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      },
    ],
  ])('in bodies of %s (%#)', async (path, json) => {
    const { status, body } = await server.call('POST', path, { json })
    expect(status).toBeLessThan(500)
    expectHarmless(body, path)
  })

  it('in a member that is named twice', async () => {
    const name = JSON.stringify(HOSTILE)
    const { status, body } = await server.call('POST', '/config', { body: `{${name}:1,${name}:2}` })
    expect(status).toBe(400)
    expectHarmless(body, 'twice')
  })

  it('in queries', async () => {
    for (const query of ['type', 'limit', 'since', 'domain', 'mode', 'job']) {
      for (const path of ['/events', '/signals', '/integrity', '/integrity/progress', '/positions']) {
        const { status, body } = await server.call('GET', `${path}?${query}=${encodeURIComponent(HOSTILE)}`)
        expect(status).toBeLessThan(500)
        if (status >= 400) expectHarmless(body, `${path}?${query}`)
      }
    }
  })
})
