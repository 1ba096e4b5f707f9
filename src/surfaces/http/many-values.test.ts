import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { COST_MAX, costInParses, MANY_VALUES } from '../../../test/cpu-cost.fixture.ts'
import { startTestServer, type TestServer } from './test-server.fixture.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.close())

const TOO_MANY = 'must have at most 100000 values'

const BODIES: Readonly<Record<string, (values: string) => readonly [path: string, body: string]>> = {
  'the body of a submission': (values) => ['/signals/submit', values],
  'the payload of a submission': (values) => [
    '/signals/submit',
    `{"event_type":"x","source":"y","payload":${values}}`,
  ],
  'a list in the settings': (values) => ['/config', `{"execution":{"dcg_symbols":${values}}}`],
  'a section of the settings': (values) => ['/config', `{"execution":${values}}`],
  'intents to settle': (values) => ['/karma/settle', `{"intent_ids":${values}}`],
}

const toolCall = (parameters: string): string =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${parameters}}`

const emission = (payload: string): string =>
  toolCall(
    `{"name":"emit_producer_signal","arguments":{"producer_id":"p","signal_type":"signal.events.v1","payload":${payload}}}`,
  )

const MESSAGES: Readonly<Record<string, (values: string) => string>> = {
  'a message': (values) => values,
  'a batch of calls': (values) => `[${toolCall('{"name":"get_signals"}')},${values}]`,
  'an id': (values) => `{"jsonrpc":"2.0","method":"ping","id":${values}}`,
  parameters: toolCall,
  arguments: (values) => toolCall(`{"name":"get_recent_signals","arguments":${values}}`),
  'the payload of an emission': emission,
  'a list in the payload of an emission': (values) => emission(`{"catalysts":${values}}`),
  'a reason next to the names of all urgent tools': (values) =>
    toolCall(
      `{"name":"set_kill_switch","x":"close_position close_all_positions cancel_order deny_intent","arguments":{"level":1,"reason":${values}}}`,
    ),
}

describe.each(Object.entries(MANY_VALUES))('one megabyte of %s', (_kind, values) => {
  it.each(Object.entries(BODIES))(
    'is refused before its shape is checked, as %s',
    async (_place, requestOf) => {
      const [path, body] = requestOf(values)
      const cost = await costInParses(body, async () => {
        const refused = await server.call('POST', path, { body })
        expect(refused.status).toBe(422)
        expect(refused.body['errors']).toEqual([{ loc: ['body'], type: 'too_large', msg: TOO_MANY }])
      })
      expect(cost).toBeLessThan(COST_MAX)
    },
  )

  it.each(Object.entries(MESSAGES))('is refused over MCP, as %s', async (_place, messageOf) => {
    const body = messageOf(values)
    const cost = await costInParses(body, async () => {
      const refused = await server.call('POST', '/mcp', { body })
      expect(refused.status).toBe(400)
      expect(refused.body['error']).toEqual({ code: -32_600, message: `the message ${TOO_MANY}` })
    })
    expect(cost).toBeLessThan(COST_MAX)
  })
})

describe('as many values as a request may have', () => {
  it('reports the size of a payload, not the faults inside it', async () => {
    const body = emission(`{"catalysts":[${'0,'.repeat(90_000)}0]}`)
    const cost = await costInParses(body, async () => {
      const { status, body: answer } = await server.call('POST', '/mcp', { body })
      expect([status, answer['error']]).toMatchObject([
        200,
        { message: 'payload must not be larger than 65536 bytes' },
      ])
    })
    expect(cost).toBeLessThan(COST_MAX)
  })

  it('reports the first faults of a payload that is small enough', async () => {
    const body = emission(`{"symbol":"BTC","catalysts":[${'0,'.repeat(32_000)}0]}`)
    const cost = await costInParses(body, async () => {
      const { body: answer } = await server.call('POST', '/mcp', { body })
      const { data } = answer['error'] as { data: { errors: readonly { loc: readonly string[] }[] } }
      expect(data.errors.map(({ loc }) => loc.at(-1))).toEqual('0123456789'.split(''))
    })
    expect(cost).toBeLessThan(COST_MAX)
  })
})
