import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { MemoryLog } from '../../adapters/storage/memory/memory-log.ts'
import { StoreUnavailableError, type AppendResult } from '../../ports/event-log.ts'
import { ok } from './results.ts'
import { route, type Route } from './route.ts'
import { ROUTES } from './routes/all.ts'
import { startTestServer, type TestServer, type TestServerOptions } from './test-server.fixture.ts'

let server: TestServer
const start = async (options: TestServerOptions = {}): Promise<TestServer> => {
  server = await startTestServer(options)
  return server
}
afterEach(() => server.close())

const routeOf = (handler: Route['handler'], extra: Partial<Route> = {}): Route => ({
  ...route('GET', '/test', 'read', {
    summary: 'a test',
    response: z.object({ done: z.boolean() }),
    handler: () => ok({ done: true }),
  }),
  operationId: 'test',
  tag: 'Test',
  ...extra,
  handler,
})

describe('a fault of ours', () => {
  const SECRETS = /select|secret-table|\/etc\/|node_modules|\.ts\b|at .*\(/i

  it('is 500 without a word about itself, and fully in the log', async () => {
    for (const handler of [
      () => {
        throw new Error('select * from secret-table in /etc/passwd')
      },
      () => Promise.reject(new Error('select * from secret-table in /etc/passwd')),
    ] satisfies Route['handler'][]) {
      await start({ routes: [routeOf(handler)] })
      const { status, body, text } = await server.call('GET', '/test', {
        headers: { 'x-request-id': 'req-1' },
      })
      expect([status, body['code'], body['request_id']]).toEqual([500, 'internal.error', 'req-1'])
      expect(text).not.toMatch(SECRETS)
      const line = server.logLines.find((candidate) => candidate.includes('"level":"ERROR"'))
      expect(line).toContain('secret-table')
      expect(line).toContain('"request_id":"req-1"')
      await server.close()
    }
    await start()
  })

  it('is found in tests when an answer is not what was promised', async () => {
    const wrong = routeOf(() => ok({ done: 'yes' }))
    const more = { ...routeOf(() => ok({ done: true, more: 1 })), url: '/api/v1/more', operationId: 'more' }
    await start({ routes: [wrong, more] })
    expect((await server.call('GET', '/test')).status).toBe(500)
    expect((await server.call('GET', '/more')).status).toBe(500)
    await server.close()
    await start({ routes: [wrong, more], checkResponses: false })
    expect((await server.call('GET', '/more')).body).toEqual({ done: true, more: 1 })
  })
})

describe('a handler that takes too long', () => {
  const slow = (fails: boolean) =>
    new Promise<never>((_resolve, reject) => {
      if (fails) setTimeout(() => reject(new Error('too late anyway')), 60)
    })

  it('is answered with 503', async () => {
    await start({ routes: [routeOf(() => slow(false))], limits: { handlerTimeoutMs: 20 } })
    const { status, body, headers } = await server.call('GET', '/test')
    expect([status, body['code']]).toEqual([503, 'server.timeout'])
    expect(headers.get('retry-after')).toBe('5')
  })

  it('still fails loudly', async () => {
    await start({ routes: [routeOf(() => slow(true))], limits: { handlerTimeoutMs: 20 } })
    await server.call('GET', '/test')
    await expect.poll(() => server.logLines.join('')).toContain('too late anyway')
  })

  it('may take its time if it says so', async () => {
    const patient = routeOf(
      () => new Promise((resolve) => setTimeout(() => resolve(ok({ done: true })), 60)),
      {
        mayTakeLong: () => true,
      },
    )
    await start({ routes: [patient], limits: { handlerTimeoutMs: 20 } })
    expect((await server.call('GET', '/test')).body).toEqual({ done: true })
  })
})

describe('a store that does not answer', () => {
  it('is 503 store.unavailable, and nothing else is shown', async () => {
    const log = new FailingLog()
    await start({ log })
    log.appends = 'fail'
    const { status, body, headers, text } = await server.call('POST', '/kill-switch', {
      json: { level: 1, reason: 'x' },
    })
    expect([status, body['code']]).toEqual([503, 'store.unavailable'])
    expect(headers.get('retry-after')).toBe('2')
    expect(text).not.toContain('/var/lib')
    expect(server.logLines.join('')).toContain('/var/lib')
    log.appends = 'work'
    expect((await server.call('POST', '/kill-switch', { json: { level: 1, reason: 'x' } })).status).toBe(200)
  })

  it('does not undo what was done when only its record fails', async () => {
    const log = new FailingLog()
    await start({ log })
    log.appends = 'fail-audit'
    const answer = await server.call('POST', '/kill-switch', { json: { level: 1, reason: 'x' } })
    expect([answer.status, answer.body['level']]).toEqual([200, 1])
    expect((await server.call('GET', '/kill-switch', { token: 'wrong' })).status).toBe(401)
    expect(server.logLines.join('')).toContain('access could not be recorded')
  })

  it('does not hold up an answer for ever when its record hangs', async () => {
    const log = new FailingLog()
    await start({ log, limits: { handlerTimeoutMs: 50 } })
    log.appends = 'hang'
    expect((await server.call('GET', '/kill-switch', { token: null })).status).toBe(401)
    expect(server.logLines.join('')).toContain('the store took too long')
    log.appends = 'work'
    log.release()
  })

  it('is busy when too many commands wait', async () => {
    const log = new FailingLog()
    await start({
      log,
      engineLimits: { queueMax: 1, batchMax: 1, inFlightMax: 1 },
      limits: { handlerTimeoutMs: 300 },
    })
    log.appends = 'hang'
    const answers = Array.from({ length: 5 }, (_, index) =>
      server.call('POST', '/kill-switch', { json: { level: (index % 3) + 1, reason: 'x' } }),
    )
    const codes = (await Promise.all(answers)).map(({ body }) => body['code'])
    expect(codes).toContain('store.busy')
    log.appends = 'work'
    log.release()
  })

  it('is shutting down when the engine is closed', async () => {
    await start()
    await server.engine.close()
    const { status, body } = await server.call('POST', '/kill-switch', { json: { level: 1, reason: 'x' } })
    expect([status, body['code']]).toEqual([503, 'server.shutting_down'])
  })
})

describe('every route', () => {
  it('is listed in the order of its resource, with a summary and an own name', () => {
    expect(new Set(ROUTES.map(({ operationId }) => operationId)).size).toBe(ROUTES.length)
    expect(ROUTES.every(({ summary }) => summary.length > 0)).toBe(true)
  })
})

/** A log whose appends can be made to fail or to hang. */
class FailingLog extends MemoryLog {
  appends: 'work' | 'fail' | 'fail-audit' | 'hang' = 'work'
  readonly #waiting: (() => void)[] = []

  override async append(...args: Parameters<MemoryLog['append']>): Promise<AppendResult> {
    const isAudit = args[0].some(({ type }) => type === 'system.audit.v1')
    if (this.appends === 'fail' || (this.appends === 'fail-audit' && isAudit)) {
      throw new StoreUnavailableError('no space left on /var/lib')
    }
    if (this.appends === 'hang') await new Promise<void>((resolve) => this.#waiting.push(resolve))
    return super.append(...args)
  }

  release(): void {
    for (const go of this.#waiting.splice(0)) go()
  }
}
