import { afterEach, describe, expect, it } from 'vitest'
import { MemoryLog } from '../../../adapters/storage/memory/memory-log.ts'
import { ACCESS_KEY_PREFIX } from '../../../core/operations/access-keys.ts'
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
