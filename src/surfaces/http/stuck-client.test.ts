import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { okText } from './results.ts'
import { route, routes } from './route.ts'
import { startTestServer } from './test-server.fixture.ts'

/** More bytes than a connection buffers while its client does not read. */
const LARGE = 'x'.repeat(32 * 1024 * 1024)

const largeRoutes = routes('Test', {
  large: route('GET', '/large', 'public', {
    summary: 'a large one',
    response: z.string(),
    responseType: 'text/plain',
    handler: () => okText(LARGE, 'text/plain'),
  }),
})

it('a client that does not take its response is cut', async () => {
  const server = await startTestServer({ routes: largeRoutes, limits: { takeTimeoutMs: 20 } })
  const socket = connect(server.port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.pause()
  socket.write('GET /api/v1/large HTTP/1.1\r\nHost: x\r\n\r\n')
  const isCut = (): boolean => {
    // Writing to a connection that the server has closed also ends it here.
    socket.write('\r\n')
    return socket.destroyed
  }
  await expect.poll(isCut).toBe(true)
  await server.close()
})

it('one that reads gets all of it', async () => {
  const server = await startTestServer({ routes: largeRoutes })
  const { text } = await server.call('GET', '/large', { token: null })
  expect(text.length).toBe(LARGE.length)
  await server.close()
})
