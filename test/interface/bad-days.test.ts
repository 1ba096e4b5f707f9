import { afterAll, describe, expect, it } from 'vitest'
import { postgresMissing, startPostgres } from '../postgres/server.fixture.ts'
import { cleanUp, newHome, startProcess, startService, type Answer, type RunningService } from './service.ts'

afterAll(cleanUp)

const write = (service: RunningService, index: number): Promise<Answer> =>
  service.call('POST', '/kill-switch', {
    body: { level: index % 4, reason: `write ${index} ${'x'.repeat(400)}` },
  })

const reasonsIn = async (service: RunningService): Promise<ReadonlySet<string>> => {
  const reasons = new Set<string>()
  let after: number | null = 0
  while (after !== null) {
    const path = `/events?type=system.kill_switch&order=asc&limit=500&after_seq=${after}`
    const page = (await service.call('GET', path)).body as {
      readonly items: readonly { readonly payload: { readonly reason: string } }[]
      readonly next_seq: number | null
    }
    for (const { payload } of page.items) reasons.add(payload.reason.trim().split(' x')[0] ?? '')
    after = page.next_seq
  }
  return reasons
}

const expectUnavailable = ({ status, headers, body }: Answer): void => {
  expect(status).toBe(503)
  expect(body).toMatchObject({ code: 'store.unavailable' })
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
}

describe('a full disk', () => {
  it('gives 503, nothing half-written, reads go on, and all that was acknowledged is there', async () => {
    const home = await newHome()
    const full = await startProcess(home, {}, { fileKibMax: 2500 })
    const acknowledged: string[] = []
    let refused = 0
    for (let index = 1; index <= 2000 && refused < 3; index += 1) {
      const answer = await write(full, index)
      if (answer.status === 200) acknowledged.push(`write ${index}`)
      else {
        refused += 1
        expectUnavailable(answer)
        expect((await full.call('GET', '/kill-switch')).status).toBe(200)
        expect((await full.call('GET', '/health')).status).toBe(200)
      }
    }
    expect(refused).toBeGreaterThan(0)
    expect(acknowledged.length).toBeGreaterThan(5)
    await full.stop()

    const service = await startService(home)
    expect((await service.call('GET', '/integrity?mode=full')).body).toMatchObject({ ok: true })
    const stored = await reasonsIn(service)
    expect(acknowledged.filter((reason) => !stored.has(reason))).toEqual([])
    expect((await write(service, 1)).status).toBe(200)
    await service.stop()
  })
})

describe.skipIf(postgresMissing !== null)(`a lost PostgreSQL server${postgresMissing ?? ''}`, () => {
  it('gives 503 while it is away, and the service goes on when it is back', async () => {
    const server = await startPostgres()
    try {
      const service = await startService(await newHome(), { SVC_STORE__URL: await server.freshDatabase() })
      expect((await write(service, 1)).status).toBe(200)
      await server.kill()
      expectUnavailable(await write(service, 2))
      expect((await service.call('GET', '/health')).status).toBe(200)
      await server.restart()
      await expect.poll(async () => (await write(service, 3)).status).toBe(200)
      expect((await service.call('GET', '/integrity?mode=full')).body).toMatchObject({ ok: true })
      const stored = await reasonsIn(service)
      expect(stored.has('write 1') && stored.has('write 3')).toBe(true)
      expect(await service.stop()).toBe(0)
    } finally {
      await server.stop()
    }
  })
})
