import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cleanUp, newHome, startProcess } from '../interface/service.ts'
import { openLine } from '../postgres/line.fixture.ts'
import { postgresMissing, startPostgres, type PostgresServer } from '../postgres/server.fixture.ts'
import { asksWithin, eventsAfter, leads, readinessOf, repeatedIn, until } from './leading.fixture.ts'

/** Two seconds, and what it takes to notice on top. */
const BACK_WITHIN = asksWithin(3000)
/** Five seconds, and the same. */
const REPLACED_WITHIN = asksWithin(6000)

const WORDS = { words: ['serve', '--no-dashboard'] }

describe.skipIf(postgresMissing !== null)('while the database is away', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(async () => {
    await cleanUp()
    await server?.stop()
  })

  it('requests are answered with 503 and Retry-After, and with 200 within 2 s of its return', async () => {
    const url = await server.freshDatabase()
    const service = await startProcess(await newHome(), { SVC_STORE__URL: url, SVC_DEV_MODE: '1' }, WORDS)
    await until(async () => (await readinessOf(service)).ready === true)
    const raise = () => service.call('POST', '/kill-switch', { body: { level: 1, reason: 'a test' } })
    expect((await raise()).status).toBe(200)
    await server.kill()
    const untilMs = performance.now() + 12_000
    while (performance.now() < untilMs) {
      for (const answer of [await raise(), await service.call('GET', '/events')]) {
        expect(answer.status).toBe(503)
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
      }
      await sleep(200)
    }
    expect(await readinessOf(service)).toMatchObject({ reasons: ['store_unavailable'] })
    expect((await service.call('GET', '//live')).status).toBe(200)
    await server.restart()
    expect(await until(async () => (await raise()).status === 200)).toBeLessThan(BACK_WITHIN)
    expect((await service.call('GET', '/events')).status).toBe(200)
    // Its lease is confirmed again, because no other process took it.
    await until(() => leads(service))
    await service.stop()
  })

  it('of the leader alone, another process leads in time, and the first one stores nothing as leader', async () => {
    const url = await server.freshDatabase()
    const line = await openLine(url)
    const settings = {
      SVC_DEV_MODE: '1',
      SVC_MARKET__FEED: 'simulated',
      SVC_MARKET__WARMUP_HOURS: '1',
      SVC_BRAIN__CYCLE_INTERVAL_SECONDS: '2',
    }
    const home = await newHome()
    const first = await startProcess(home, { ...settings, SVC_STORE__URL: line.url }, WORDS)
    const second = await startProcess(home, { ...settings, SVC_STORE__URL: url }, WORDS)
    // The start of the second may have kept the first from confirming its lease in time.
    await until(() => leads(first))
    expect(await leads(second)).toBe(false)
    line.cut()
    expect(await until(() => leads(second))).toBeLessThan(REPLACED_WITHIN)
    expect(await leads(first)).toBe(false)
    await sleep(8000)
    line.mend()
    await until(() => first.output().includes('leadership lost'))
    await until(async () => (await readinessOf(first)).ready === true)
    await sleep(3000)
    await until(() => leads(second))
    expect(await leads(first)).toBe(false)
    const all = await eventsAfter(second, 0)
    expect(all.filter(({ type }) => type === 'system.leader.v1')).toHaveLength(2)
    expect(repeatedIn(all)).toEqual([])
    await Promise.all([first.stop(), second.stop()])
    await line.close()
  })
})
