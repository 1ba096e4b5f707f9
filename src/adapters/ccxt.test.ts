import { AsyncLocalStorage } from 'node:async_hooks'
import { readFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createManualTimer, settle } from '../ports/manual-timer.fixture.ts'
import type { Timer } from '../ports/timer.ts'
import {
  CCXT_PACKAGE,
  createHttpClient,
  loadCcxt,
  numberOf,
  pauseMs,
  redirectUrls,
  type HttpClient,
} from './ccxt.ts'
import { createRateLimiter, DeadlineError, RateLimitError } from './rate-limiter.ts'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close()
    server.closeAllConnections()
  }
})

const listening = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const clientWith = (timer: Timer): HttpClient =>
  createHttpClient({
    signal: new AbortController().signal,
    timer,
    timeoutMs: 1000,
    onRetryAfter: () => undefined,
  })

const request = async (listener: RequestListener): Promise<Response> =>
  clientWith(createManualTimer(0)).fetch(await listening(listener), {})

describe('the library', () => {
  it('that is not installed is reported with the command that installs it', async () => {
    const missing = Object.assign(new Error("Cannot find package 'ccxt'"), { code: 'ERR_MODULE_NOT_FOUND' })
    await expect(loadCcxt(() => Promise.reject(missing))).rejects.toThrow(
      `the exchange library is not installed: run npm install ${CCXT_PACKAGE}`,
    )
    await expect(loadCcxt(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  })

  it('is named in the version that this package is tested with', () => {
    const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
    const [name, version] = CCXT_PACKAGE.split('@')
    expect(manifest).toContain(`"${name}": "${version}"`)
  })

  it('is sent to another host by its URLs', () => {
    const urls = { api: { public: 'https://a.example/v1', socket: 'wss://b.example/ws' }, version: 2 }
    expect(redirectUrls(urls, 'http://127.0.0.1:80')).toEqual({
      api: { public: 'http://127.0.0.1:80/a.example/v1', socket: 'ws://127.0.0.1:80/b.example/ws' },
      version: 2,
    })
  })
})

describe('the HTTP client', () => {
  it('returns status, headers and text', async () => {
    const response = await request((_, reply) => reply.writeHead(404, { 'X-Weight': '7' }).end('gone'))
    expect(response.status).toBe(404)
    expect(response.headers.get('x-weight')).toBe('7')
    expect(await response.text()).toBe('gone')
  })

  it('follows no redirect', async () => {
    await expect(request((_, reply) => reply.writeHead(302, { Location: '/' }).end())).rejects.toThrow(
      'fetch failed',
    )
  })

  it('limits the length of a response', async () => {
    const bytes = gzipSync(Buffer.alloc(65 * 1024 * 1024, '['), { level: 1 })
    const response = request((_, reply) => reply.writeHead(200, { 'Content-Encoding': 'gzip' }).end(bytes))
    await expect(response).rejects.toThrow('longer than')
  })

  it('sends nothing after the deadline of a call, not even what was allowed and signed before it', async () => {
    let requests = 0
    const url = await listening((_, reply) => {
      requests += 1
      reply.end('{}')
    })
    const timer = createManualTimer(0)
    const client = clientWith(timer)
    // Its signal has not come yet, as after a standstill.
    const deadline = { signal: new AbortController().signal, isOver: () => timer.now() >= 4000 }
    const sendAfter = (waitMs: number): Promise<Response> =>
      client.until(deadline, async () => {
        await timer.advance(waitMs)
        return client.fetch(url, {})
      })
    expect((await sendAfter(3999)).status).toBe(200)
    await expect(sendAfter(1)).rejects.toBeInstanceOf(DeadlineError)
    expect(requests).toBe(1)
  })

  it('accepts nothing but JSON', async () => {
    await expect(request((_, reply) => reply.end('<html></html>'))).rejects.toThrow('not JSON')
    await expect(request((_, reply) => reply.end())).rejects.toThrow('not JSON')
    await expect(request((_, reply) => reply.end('{"half":'))).rejects.toThrow('not JSON')
  })
})

describe('a pause', () => {
  it('is as long as the exchange asks for, within reason', () => {
    const nowMs = Date.parse('2026-02-20T12:00:00Z')
    expect(pauseMs(429, '30', nowMs)).toBe(30_000)
    expect(pauseMs(503, 'Fri, 20 Feb 2026 12:01:00 GMT', nowMs)).toBe(60_000)
    expect(pauseMs(418, 'Fri, 20 Feb 2026 11:00:00 GMT', nowMs)).toBe(0)
    expect(pauseMs(429, '9'.repeat(30), nowMs)).toBe(3 * 86_400_000)
  })

  it('has a default for rate limits and bans', () => {
    expect([429, 418, 503, 500, 200].map((status) => pauseMs(status, null, 0))).toEqual([
      10_000,
      120_000,
      null,
      null,
      null,
    ])
    expect(pauseMs(429, 'soon', 0)).toBe(10_000)
  })
})

const limiterOf = (rateLimitMs: number, burstMs: number, waitMsMax: number) => {
  const timer = createManualTimer(1_000_000)
  const abort = new AbortController()
  const limiter = createRateLimiter({ timer, signal: abort.signal, rateLimitMs, burstMs, waitMsMax })
  return { timer, abort, limiter }
}

describe('the rate limiter', () => {
  it.each([
    ['waits without end', 1000, Number.POSITIVE_INFINITY],
    ['rejects what waits too long', 10_000, 5000],
  ])('that %s never exceeds the limit by more than a burst', async (_, burstMs, waitMsMax) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.double({ min: 0.1, max: 30, noNaN: true }), { minLength: 1, maxLength: 30 }),
        fc.integer({ min: 20, max: 2000 }),
        async (costs, rateLimitMs) => {
          const { timer, limiter } = limiterOf(rateLimitMs, burstMs, waitMsMax)
          const startMs = timer.now()
          let spentMs = 0
          const sent = costs.map(async (cost) => {
            await limiter.take(cost)
            const allowedMs = Math.max(burstMs, rateLimitMs) + (timer.now() - startMs)
            expect(spentMs).toBeLessThanOrEqual(allowedMs + 1e-6)
            spentMs += cost * rateLimitMs
          })
          const results = Promise.allSettled(sent)
          await timer.advance(costs.reduce((sum, cost) => sum + cost, 1) * rateLimitMs)
          for (const result of await results) {
            if (result.status === 'fulfilled') continue
            expect(waitMsMax).toBe(5000)
            expect(result.reason).toBeInstanceOf(RateLimitError)
          }
        },
      ),
      { numRuns: 30 },
    )
  })

  it('sends nothing during a pause, and rejects at once what would wait too long', async () => {
    const { timer, limiter } = limiterOf(50, 10_000, 5000)
    limiter.pause(60_000)
    await expect(limiter.take(1)).rejects.toThrow('no request for another 60000 ms')
    await timer.advance(60_000)
    await expect(limiter.take(1)).resolves.toBeUndefined()
  })

  it('rejects a waiting request when a long pause begins meanwhile', async () => {
    const { timer, limiter } = limiterOf(1000, 10_000, 5000)
    await limiter.take(12)
    const waiting = Promise.allSettled([limiter.take(1)])
    await settle()
    limiter.pause(60_000)
    await timer.advance(5000)
    const [result] = await waiting
    expect(result).toMatchObject({ status: 'rejected', reason: expect.any(RateLimitError) })
  })

  it('does not wait for a clock that was set back', async () => {
    const { timer, limiter } = limiterOf(50, 1000, 5000)
    limiter.pause(3000)
    await timer.jump(-3_600_000)
    const taken = limiter.take(1)
    await timer.advance(3000)
    await expect(taken).resolves.toBeUndefined()
  })

  it('sends nothing after a stop', async () => {
    const { abort, limiter } = limiterOf(1000, 1000, Number.POSITIVE_INFINITY)
    await limiter.take(5)
    const waiting = [limiter.take(1), limiter.take(1)]
    abort.abort()
    const results = await Promise.allSettled([...waiting, limiter.take(1)])
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  })
})

it('a client leaves nothing behind that Node asks at every promise', async () => {
  const used = vi.spyOn(AsyncLocalStorage.prototype, 'run')
  const ended = vi.spyOn(AsyncLocalStorage.prototype, 'disable')
  const abort = new AbortController()
  const timer = createManualTimer(0)
  const http = createHttpClient({
    signal: abort.signal,
    timer,
    timeoutMs: 1000,
    onRetryAfter: () => undefined,
  })
  const url = await listening(() => undefined)
  const waiting = http.track(() => http.fetch(url, {}))
  expect(used).toHaveBeenCalledOnce()
  abort.abort()
  expect(ended.mock.contexts).toEqual(used.mock.contexts)
  await expect(waiting).resolves.toMatchObject({ status: 'failed' })
  const late = await http.track(() => http.fetch(url, {}))
  expect(late).toMatchObject({ status: 'failed', outcome: { status: 'not_sent' } })
  expect(used).toHaveBeenCalledOnce()
  vi.restoreAllMocks()
})

it('foreign numbers are numbers or null', () => {
  expect(['1.5', 2, '', ' ', 'x', null, undefined, {}, Number.NaN].map(numberOf)).toEqual([
    1.5,
    2,
    ...Array.from({ length: 7 }, () => null),
  ])
})
