import dns from 'node:dns'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { ok, type RouteResult } from './results.ts'
import { route, routes } from './route.ts'
import { killSwitchRoutes } from './routes/kill-switch.ts'
import { createHttpServer } from './server.ts'
import { startTestServer, TOKEN } from './test-server.fixture.ts'

const slowRoute = () => {
  let finish: (answer: RouteResult<{ done: boolean }>) => void = () => undefined
  let begun: () => void = () => undefined
  const hasBegun = new Promise<void>((resolve) => {
    begun = resolve
  })
  const slow = route('GET', '/slow', 'read', {
    summary: 'a slow one',
    response: z.object({ done: z.boolean() }),
    handler: () => {
      begun()
      return new Promise<RouteResult<{ done: boolean }>>((resolve) => {
        finish = resolve
      })
    },
  })
  return { slowRoutes: routes('Test', { slow }), hasBegun, finish: () => finish(ok({ done: true })) }
}

describe('a shutdown', () => {
  it('has one server to wait for, also where localhost has two addresses', async () => {
    const { slowRoutes } = slowRoute()
    const server = await startTestServer({ routes: slowRoutes })
    const both = [
      { address: '127.0.0.1', family: 4 },
      { address: '127.0.0.2', family: 4 },
    ]
    const lookup = vi.spyOn(dns, 'lookup').mockImplementation((...args: readonly unknown[]) => {
      const done = args.at(-1) as (error: null, ...found: readonly unknown[]) => void
      const isForAll = (args[1] as { readonly all?: boolean } | undefined)?.all === true
      done(null, ...(isForAll ? [both] : [args[0] === 'localhost' ? '127.0.0.1' : args[0], 4]))
    })
    const other = await createHttpServer(server, { routes: slowRoutes })
    const { port } = await other.listen({ host: 'localhost', port: 0 })
    lookup.mockRestore()
    await expect(fetch(`http://127.0.0.2:${port}/api/v1/slow`)).rejects.toThrow('fetch failed')
    await other.close()
    await server.close()
  })

  it('finishes what is under way and takes nothing new', async () => {
    const { slowRoutes, hasBegun, finish } = slowRoute()
    const server = await startTestServer({ routes: slowRoutes })
    const underWay = server.call('GET', '/slow')
    await hasBegun
    const closed = server.close()
    await expect(fetch(`${server.baseUrl}/slow`)).rejects.toThrow('fetch failed')
    finish()
    const { status, body } = await underWay
    expect([status, body]).toEqual([200, { done: true }])
    await closed
  })

  it('answers late requests on an open connection with 503', async () => {
    const { slowRoutes, hasBegun, finish } = slowRoute()
    const server = await startTestServer({ routes: slowRoutes })
    const socket = connect(server.port, '127.0.0.1')
    const received = text(socket)
    const ask = `GET /api/v1/slow HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`
    socket.write(ask)
    await hasBegun
    const closed = server.close()
    socket.write(ask)
    // The second request is only read once the first one is answered.
    setTimeout(finish, 50)
    const answers = await received
    expect(answers).toMatch(/^HTTP\/1\.1 200 OK/)
    const late = /HTTP\/1\.1 503 [\s\S]*$/.exec(answers)?.[0] ?? ''
    expect(late).toContain('"code":"server.shutting_down"')
    expect(late).toMatch(/retry-after: 5/i)
    expect(late).toMatch(/x-request-id/i)
    await closed
  })

  it('cuts what does not end in time', async () => {
    const { slowRoutes, hasBegun } = slowRoute()
    const server = await startTestServer({ routes: slowRoutes, limits: { closeTimeoutMs: 50 } })
    const outcome = server.call('GET', '/slow').then(
      () => 'answered',
      () => 'cut',
    )
    await hasBegun
    await server.close()
    expect(await outcome).toBe('cut')
  })

  it('does not wait for the rest of a request, and finishes those that are complete', async () => {
    const { slowRoutes, hasBegun, finish } = slowRoute()
    const server = await startTestServer({
      routes: [...slowRoutes, ...killSwitchRoutes],
      limits: { closeTimeoutMs: 120_000, restTimeoutMs: 10 },
    })
    const underWay = server.call('GET', '/slow')
    await hasBegun
    const opened = (begin: string): Socket => {
      const socket = connect(server.port, '127.0.0.1').on('error', () => undefined)
      socket.write(begin)
      return socket
    }
    // Accepted before the other two: their responses show that it was accepted.
    const begun = opened('POST /api/v1/kill').resume()
    const head =
      'POST /api/v1/kill-switch HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 9\r\n'
    const admitted = opened(`${head}Authorization: Bearer ${TOKEN}\r\n\r\n`)
    const refused = opened(`${head}Connection: close\r\n\r\n`)
    await Promise.all([once(admitted, 'data'), once(refused, 'data')])
    const cut = [begun, admitted.resume(), refused.resume()].map(
      (socket) => new Promise((resolve) => void socket.once('close', resolve)),
    )
    const closed = server.close()
    await Promise.all(cut)
    finish()
    expect((await underWay).status).toBe(200)
    await closed
  })

  it('does not wait for clients that only keep their connection', async () => {
    const server = await startTestServer()
    const agent = new Agent({ keepAlive: true })
    await new Promise<void>((resolve, reject) => {
      request(`${server.baseUrl}/health`, { agent }, (response) => {
        response.resume().on('end', resolve)
      })
        .on('error', reject)
        .end()
    })
    await expect(server.close()).resolves.toBeUndefined()
    agent.destroy()
  })

  it('frees the port', async () => {
    const first = await startTestServer()
    const { port } = first
    await first.close()
    const second = await startTestServer()
    await second.server.close()
    await expect(fetch(`http://127.0.0.1:${port}/api/v1/health`)).rejects.toThrow('fetch failed')
    await second.close()
  })
})
