import { afterEach, describe, expect, it } from 'vitest'
import { MemoryLog } from '../../../adapters/storage/memory/memory-log.ts'
import { ACCESS_KEY_PREFIX } from '../../../core/operations/access-keys.ts'
import { barAt } from '../../../core/market/bars.fixture.ts'
import { timestampAt } from '../../../core/shared/time.ts'
import { StoreUnavailableError } from '../../../ports/event-log.ts'
import { startTestServer, VERSION, type TestServer } from '../test-server.fixture.ts'

let server: TestServer
afterEach(() => server.close())

describe('GET /health', () => {
  it('tells exactly three things, to everybody', async () => {
    server = await startTestServer()
    for (const token of [null, 'wrong']) {
      const { status, body } = await server.call('GET', '/health', { token })
      expect([status, body]).toEqual([200, { version: VERSION, uptime_seconds: 0, db_size_bytes: 0 }])
    }
    server.testClock.advance(12_400)
    expect((await server.call('GET', '/health')).body['uptime_seconds']).toBe(12.4)
    server.testClock.advance(-60_000)
    expect((await server.call('GET', '/health')).body['uptime_seconds']).toBe(0)
  })

  it('knows the size of the store, and does not mind if it does not', async () => {
    server = await startTestServer({ log: new SizedLog(() => Promise.resolve(4096)) })
    expect((await server.call('GET', '/health')).body['db_size_bytes']).toBe(4096)
    await server.close()
    server = await startTestServer({
      log: new SizedLog(() => Promise.reject(new StoreUnavailableError('gone'))),
    })
    expect(await server.call('GET', '/health')).toMatchObject({ status: 200, body: { db_size_bytes: 0 } })
    await server.close()
    server = await startTestServer({ log: new SizedLog(() => new Promise(() => undefined)) })
    expect(await server.call('GET', '/health')).toMatchObject({ status: 200, body: { db_size_bytes: 0 } })
  })

  it('answers a caller with an access key whatever state the store is in', async () => {
    const log = new StallingLog()
    server = await startTestServer({ log })
    log.isStalled = true
    const token = `${ACCESS_KEY_PREFIX}${'x'.repeat(43)}`
    expect((await server.call('GET', '/health', { token })).status).toBe(200)
    expect((await server.callRoot('GET', '/live', { token })).status).toBe(200)
    log.isStalled = false
  })
})

describe('GET /api/v1/ready', () => {
  const ready = async () => {
    const { status, body } = await server.call('GET', '/ready', { token: null })
    return { status, reasons: body['reasons'], detail: body['detail'] }
  }

  it('names the symbols without a recent price while a feed runs, until each has one', async () => {
    const settings = { market: { feed: 'file', file: 'bars.csv' }, universe: { symbols: ['BTC', 'ETH'] } }
    server = await startTestServer({ settings })
    expect(await ready()).toEqual({
      status: 503,
      reasons: ['no_price'],
      detail: 'Not ready: no recent price for BTC, ETH',
    })
    // Requests are welcome all the same: a load balancer takes no process out because of its prices.
    expect((await server.callRoot('GET', '/ready')).status).toBe(200)
    const observe = (symbol: string) => {
      const bars = [barAt(timestampAt(server.testClock.now() - 60_000), 100, { symbol })]
      return server.engine.execute({ kind: 'observe-bars', observation: { feed: 'file', bars } })
    }
    await observe('BTC')
    expect(await ready()).toMatchObject({ detail: 'Not ready: no recent price for ETH' })
    const waiting = server.server.ready()
    await observe('ETH')
    expect(await ready()).toMatchObject({ status: 200 })
    await waiting
    server.testClock.advance(3_600_000)
    expect(await ready()).toMatchObject({ status: 503, reasons: ['no_price'] })
  })

  it('waits for the lead where the process may lead, and for no price without a feed', async () => {
    let leads = false
    server = await startTestServer({
      dependencies: { mayLead: true, leads: () => leads, isStarting: () => !leads },
    })
    expect(await ready()).toEqual({
      status: 503,
      reasons: ['starting', 'not_leading'],
      detail: 'Not ready: the service starts; this process is not the leader',
    })
    leads = true
    expect(await ready()).toMatchObject({ status: 200 })
  })
})

class StallingLog extends MemoryLog {
  isStalled = false

  override head(): ReturnType<MemoryLog['head']> {
    return this.isStalled ? Promise.reject(new StoreUnavailableError('gone')) : super.head()
  }
}

class SizedLog extends MemoryLog {
  readonly #size: () => Promise<number>

  constructor(size: () => Promise<number>) {
    super()
    this.#size = size
  }

  override sizeBytes(): Promise<number> {
    return this.#size()
  }
}
