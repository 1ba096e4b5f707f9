import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { appendTo, recordsAfter } from '../../../../test/records.fixture.ts'
import { MemoryLog } from '../../../adapters/storage/memory/memory-log.ts'
import { stampedFrom, type LogRecord } from '../../../core/log/event.ts'
import { StoreUnavailableError, type LogQuery } from '../../../ports/event-log.ts'
import { expectProblem } from '../expectations.fixture.ts'
import { OPERATOR_TOKEN, TOKEN } from '../test-server.fixture.ts'
import { clientsOf, streamFixture, untilClients } from './stream.fixture.ts'

const { start, open } = streamFixture()

describe('a silent stream', () => {
  it('is kept alive as often as the configuration says at the moment', async () => {
    const server = await start({
      settings: { stream: { keep_alive_seconds: 300 } },
      streamLimits: { checkMs: 10 },
    })
    const client = await open(server, { domain: 'signal' })
    await server.call('POST', '/config', { json: { stream: { keep_alive_seconds: 1 } } })
    await client.until(() => client.lines.filter((line) => line === ': keep-alive').length >= 2)
    expect(client.lines.slice(0, 6)).toEqual(['retry: 2000', '', ': keep-alive', '', ': keep-alive', ''])
  })
})

describe('a token that changed', () => {
  const NEXT = 'the-next-token-of-more-than-32-characters'

  it('ends the streams that it opened, and no other', async () => {
    const server = await start({
      settings: { api: { operator_token: OPERATOR_TOKEN } },
      streamLimits: { checkMs: 10 },
    })
    const old = await open(server)
    const operator = await open(server, { token: OPERATOR_TOKEN })
    const json = { api: { auth_token: NEXT } }
    expect((await server.call('POST', '/config', { token: OPERATOR_TOKEN, json })).status).toBe(200)
    expect(await old.ended).toBe('ended')
    const next = await open(server, { token: NEXT })
    await appendTo(server.log, 1)
    for (const client of [operator, next]) {
      await client.until(() => client.messages.some(({ data }) => data.type === 'signal.test.v1'))
    }
    expect(server.logLines.join('')).toContain('its token is no longer valid')
  })

  it('opens no stream that was asked for before', async () => {
    const log = new GatedLog()
    const server = await start({ log })
    const asked = server.call('GET', '/events/stream?since=unknown')
    await log.asked
    expect((await server.call('POST', '/config', { json: { api: { auth_token: NEXT } } })).status).toBe(200)
    log.letThrough()
    expectProblem(await asked, 'auth.invalid_token', 401)
  })
})

describe('many clients', () => {
  it('take turns with everything else, however many there are', async () => {
    const server = await start({ streamLimits: { sliceMs: 0 } })
    const clients = await Promise.all(Array.from({ length: 40 }, () => open(server, { domain: 'signal' })))
    const received = (): number => clients.filter(({ messages }) => messages.length === 1).length
    let turns = 0
    // In how many turns of the event loop some client received it: sent all at once, all receive it in the same.
    let receivingTurns = 0
    let receivedBefore = 0
    let next = setImmediate(function turn() {
      turns += 1
      const receivedNow = received()
      if (receivedNow > receivedBefore) receivingTurns += 1
      receivedBefore = receivedNow
      next = setImmediate(turn)
    })
    await appendTo(server.log, 1)
    const before = turns
    for (const client of clients) await client.until(() => client.messages.length === 1)
    clearImmediate(next)
    expect(turns - before).toBeGreaterThanOrEqual(40)
    expect(receivingTurns).toBeGreaterThanOrEqual(20)
  })
})

const PAGE_EVENTS = 50

describe('clients that resume together', () => {
  it('share each page of the log', async () => {
    const log = new CountingLog()
    const [first] = await appendTo(log, 500)
    const server = await start({ log, streamLimits: { pageEvents: PAGE_EVENTS } })
    const clients = await Promise.all(
      Array.from({ length: 40 }, () => open(server, { since: first?.id ?? '' })),
    )
    log.begin()
    for (const client of clients) await client.until(() => client.messages.length >= 500)
    // Ten pages for each of 40 clients would be 400.
    expect(log.pages).toBeLessThan(60)
    for (const { messages } of clients)
      expect(messages.slice(0, 500).map(({ id }) => id)).toEqual(
        clients[0]?.messages.slice(0, 500).map(({ id }) => id),
      )
  })
})

describe('the number of clients', () => {
  it('has a limit, which may change', async () => {
    const server = await start({ settings: { stream: { max_clients: 2 } } })
    const first = await open(server)
    await open(server)
    const refused = await server.call('GET', '/events/stream')
    expectProblem(refused, 'stream.too_many_clients', 503)
    expect(refused.headers.get('retry-after')).toBe('5')
    first.close()
    await untilClients(server, 1)
    expect((await open(server)).status).toBe(200)
    await server.call('POST', '/config', { json: { stream: { max_clients: 3 } } })
    expect((await open(server)).status).toBe(200)
    expectProblem(await server.call('GET', '/events/stream'), 'stream.too_many_clients', 503)
  })

  it('falls when they hang up, however they came', async () => {
    const server = await start()
    const ask = `GET /api/v1/events/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`
    // The second stream waits for the end of the first, on the same connection.
    const socket = connect(server.port, '127.0.0.1')
    socket.write(ask + ask)
    await untilClients(server, 2)
    await appendTo(server.log, 10)
    socket.destroy()
    await expect(untilClients(server, 0)).resolves.toBeUndefined()
  })

  it('does not count those who left before their stream began', async () => {
    const log = new GatedLog()
    const server = await start({ log })
    const leaving = new AbortController()
    const headers = { authorization: `Bearer ${TOKEN}` }
    const asked = fetch(`${server.baseUrl}/events/stream?since=unknown`, { headers, signal: leaving.signal })
    await log.asked
    leaving.abort()
    await expect(asked).rejects.toThrow('abort')
    await sleep(50)
    log.letThrough()
    await appendTo(log, 1)
    expect(await clientsOf(server)).toBe(0)
  })
})

describe('a shutdown', () => {
  // Longer than a test may take: nothing may wait for the force.
  const limits = { closeTimeoutMs: 120_000 }

  it('ends streams properly, after what was stored before', async () => {
    const server = await start({ limits })
    const client = await open(server)
    const [first] = await appendTo(server.log, 1)
    await client.until(() => client.messages.at(-1)?.id === first?.id)
    const [second] = await appendTo(server.log, 1)
    await server.engine.fresh()
    await server.server.close()
    expect(await client.ended).toBe('ended')
    expect(client.messages.at(-1)?.id).toBe(second?.id)
  })

  it('opens no stream that was asked for before', async () => {
    const log = new GatedLog()
    const server = await start({ log, limits })
    const asked = server.call('GET', '/events/stream?since=unknown')
    await log.asked
    const closed = server.server.close()
    log.letThrough()
    expectProblem(await asked, 'server.shutting_down', 503)
    await closed
  })
})

describe('an error', () => {
  it('of the log disconnects clients that read from it, and no others', async () => {
    const log = new BreakingLog()
    const server = await start({ log })
    const old = await appendTo(log, 10)
    await server.engine.fresh()
    const live = await open(server)
    log.isBroken = true
    const behind = await open(server, { since: old[0]?.id ?? '' })
    expect(await behind.ended).toBe('cut')
    expect(server.logLines.join('')).toContain('stream failed')
    log.isBroken = false
    await appendTo(log, 1)
    await live.until(() => live.messages.length === 1)
    const again = await open(server, { since: old[0]?.id ?? '' })
    await again.until(() => again.messages.length === 11)
  })

  it('of the event bus ends all streams, and clients that reconnect miss nothing', async () => {
    const server = await start()
    const [first, second] = [await open(server), await open(server)]
    const head = server.engine.head
    const [, ...late] = recordsAfter(head, 3)
    server.engine.eventBus.publish({ records: late, events: late.map(stampedFrom) })
    expect([await first.ended, await second.ended]).toEqual(['cut', 'cut'])
    expect(server.logLines.join('')).toContain('the event bus skipped events')
    const again = await open(server)
    const [stored] = await appendTo(server.log, 1)
    await again.until(() => again.messages.at(-1)?.id === stored?.id)
  })
})

/** Looking for an id takes as long as the test wants. */
class GatedLog extends MemoryLog {
  letThrough: () => void = () => undefined
  #publish: () => void = () => undefined
  readonly asked = new Promise<void>((resolve) => {
    this.#publish = resolve
  })
  readonly #gate = new Promise<void>((resolve) => {
    this.letThrough = resolve
  })

  override async get(id: string): Promise<LogRecord | null> {
    this.#publish()
    await this.#gate
    return super.get(id)
  }
}

class BreakingLog extends MemoryLog {
  isBroken = false

  override read(query: LogQuery): Promise<readonly LogRecord[]> {
    if (this.isBroken) return Promise.reject(new StoreUnavailableError('the disk is gone'))
    return super.read(query)
  }
}

class CountingLog extends MemoryLog {
  pages = 0
  /** Pages wait until then, so that all clients are there. */
  begin: () => void = () => undefined
  readonly #begun = new Promise<void>((resolve) => {
    this.begin = resolve
  })

  override async read(query: LogQuery): Promise<readonly LogRecord[]> {
    if (query.after !== undefined && query.limit === PAGE_EVENTS) {
      this.pages += 1
      await this.#begun
    }
    return super.read(query)
  }
}
