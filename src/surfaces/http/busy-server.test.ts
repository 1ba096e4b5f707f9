import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { ok } from './results.ts'
import { route, routes } from './route.ts'
import { startTestServer, TOKEN } from './test-server.fixture.ts'

const READERS = 300

/** Opens connections and sends one request on each, so that later requests arrive together. */
const connections = (port: number, count: number, greeting: string): Promise<readonly Socket[]> =>
  Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect(port, '127.0.0.1')
      ask(socket, greeting)
      expect(await statusFrom(socket)).toBe('200')
      return socket
    }),
  )

const ask = (socket: Socket, head: string, body = '', { held = 0 } = {}): void => {
  const lines = [`${head} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${TOKEN}`]
  if (body !== '') lines.push('Content-Type: application/json', `Content-Length: ${body.length}`)
  socket.write(`${[...lines, '', ''].join('\r\n')}${body.slice(0, body.length - held)}`)
}

const statusFrom = async (socket: Socket): Promise<string> => {
  const [bytes] = (await once(socket, 'data')) as [Buffer]
  return bytes.toString('latin1').slice('HTTP/1.1 '.length).slice(0, 3)
}

/**
 * Sends a request together with others, on a server that handles one request per turn. Returns how many of the others
 * were answered before it.
 */
const askBehindOthers = async (head: string, body: string, status = '200'): Promise<number> => {
  const server = await startTestServer({ limits: { turnMs: 0 } })
  const [last, ...readers] = await connections(server.port, READERS + 1, 'GET /api/v1/health')
  for (const reader of readers) ask(reader, 'GET /api/v1/contributors')
  ask(last!, head, body)
  let answered = 0
  const answers = readers.map(async (reader) => {
    const said = await statusFrom(reader)
    answered += 1
    return said
  })
  expect(await statusFrom(last!)).toBe(status)
  const answeredBefore = answered
  expect(new Set(await Promise.all(answers))).toEqual(new Set(['200']))
  for (const socket of [...readers, last!]) socket.destroy()
  await server.close()
  return answeredBefore
}

const toolCall = (name: string, given: object): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } })

const STOP = { level: 3, reason: 'too much at once' }

it.each([
  ['sets the kill switch', '/kill-switch', JSON.stringify(STOP), '200'],
  ['closes all positions', '/positions/close-all', '{}', '200'],
  ['closes a position, be it there or not', '/positions/p1/close', '{}', '404'],
  ['cancels an order, be it there or not', '/orders/o1/cancel', '{}', '404'],
  ['sets the kill switch over MCP', '/mcp', toolCall('set_kill_switch', STOP), '200'],
  ['closes all positions over MCP', '/mcp', toolCall('close_all_positions', {}), '200'],
  ['closes a position over MCP', '/mcp', toolCall('close_position', { position_id: 'p1' }), '200'],
  ['cancels an order over MCP', '/mcp', toolCall('cancel_order', { order_id: 'o1' }), '200'],
])(
  'answers everybody, however many ask at once, and before them who %s',
  async (_does, path, body, status) => {
    expect(await askBehindOthers(`POST /api/v1${path}`, body, status)).toBeLessThan(READERS / 2)
  },
)

it.each([
  ['reads', toolCall('get_brain_status', {})],
  ['speaks of an urgent tool', toolCall('get_recent_signals', { domain: 'set_kill_switch' })],
  [
    'names an urgent tool as its method',
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'set_kill_switch' }),
  ],
])('lets an agent wait for its turn who only %s', async (_does, body) => {
  expect(await askBehindOthers('POST /api/v1/mcp', body)).toBeGreaterThan(READERS / 2)
})

it('says that it runs before those who read', async () => {
  expect(await askBehindOthers('GET /api/v1/health', '')).toBeLessThan(READERS / 2)
})

/** Bodies of which only the last byte is missing; then all of them are complete at once. */
const heldBodies = async (port: number, path: string, body: string, count = READERS) => {
  const sockets = await connections(port, count, 'GET /api/v1/health')
  for (const socket of sockets) ask(socket, `POST /api/v1${path}`, body, { held: 1 })
  // All earlier connections have been accepted.
  const [last] = await connections(port, 1, 'GET /api/v1/health')
  last!.destroy()
  return { sockets, complete: () => sockets.forEach((socket) => void socket.write(body.slice(-1))) }
}

it.each([
  [
    'submit signals',
    '/signals/submit',
    JSON.stringify({ event_type: 'x', payload: { a: 'x'.repeat(2000) } }),
  ],
  ['call the kill switch with much text', '/kill-switch', JSON.stringify({ level: 'x'.repeat(20_000) })],
])('sets the kill switch before those who %s, once their bodies are there', async (_do, path, body) => {
  const server = await startTestServer({ limits: { turnMs: 0 } })
  const [operator] = await connections(server.port, 1, 'GET /api/v1/health')
  const { sockets, complete } = await heldBodies(server.port, path, body)
  let answered = 0
  const answers = sockets.map(async (socket) => {
    const said = await statusFrom(socket)
    answered += 1
    return said
  })
  complete()
  ask(operator!, 'POST /api/v1/kill-switch', JSON.stringify(STOP))
  expect(await statusFrom(operator!)).toBe('200')
  expect(answered).toBeLessThan(READERS / 2)
  expect(new Set(await Promise.all(answers))).toEqual(new Set(['422']))
  for (const socket of [...sockets, operator!]) socket.destroy()
  await server.close()
})

it('says that it runs between large bodies, and goes on when one of their senders hangs up', async () => {
  const server = await startTestServer({ limits: { turnMs: 0 } })
  const [asker] = await connections(server.port, 1, 'GET /api/v1/health')
  const list = Array.from({ length: 60_000 }, (_, index) => index)
  const body = JSON.stringify({ event_type: 'x', payload: { list } })
  const { sockets, complete } = await heldBodies(server.port, '/signals/submit', body, LARGE_BODIES)
  let answered = 0
  const answers = sockets.slice(1).map(async (socket) => {
    const said = await statusFrom(socket)
    answered += 1
    return said
  })
  complete()
  sockets[0]?.destroy()
  ask(asker!, 'GET /api/v1/health')
  expect(await statusFrom(asker!)).toBe('200')
  expect(answered).toBeLessThan(LARGE_BODIES / 2)
  expect(new Set(await Promise.all(answers))).toEqual(new Set(['422']))
  for (const socket of [...sockets, asker!]) socket.destroy()
  await server.close()
})

const LARGE_BODIES = 10

it('does nothing for callers who went away while they waited', async () => {
  let served = 0
  let onServed: () => void = () => undefined
  const work = route('GET', '/work', 'read', {
    summary: 'counts',
    response: z.object({}),
    handler: () => {
      served += 1
      onServed()
      return ok({})
    },
  })
  const server = await startTestServer({ limits: { turnMs: 0 }, routes: routes('Test', { work }) })
  const callers = await connections(server.port, READERS, 'GET /api/v1/work')
  served = 0
  const firstServed = new Promise<void>((resolve) => {
    onServed = resolve
  })
  for (const caller of callers) ask(caller, 'GET /api/v1/work')
  await firstServed
  for (const caller of callers) caller.destroy()
  await server.call('GET', '/work')
  await server.close()
  // A few were served before it was known that they are gone.
  expect(served).toBeLessThan(10)
})
