import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { recordsAfter } from '../../../../test/records.fixture.ts'
import { EMPTY_HEAD } from '../../../core/log/event.ts'
import { StoreUnavailableError } from '../../../ports/event-log.ts'
import { openTestHome, VERSION, type TestHome } from '../test-home.fixture.ts'

let home: TestHome
beforeEach(async () => {
  home = await openTestHome()
})
afterEach(() => home.close())

const health = async (options = {}) => {
  const { exitCode, stdout, stderr } = await home.run(['health', '--json'], options)
  return { exitCode, stderr, found: JSON.parse(stdout) }
}

it('is not well in an empty folder, and says why', async () => {
  const { exitCode, found } = await health()
  expect(exitCode).toBe(1)
  expect(found).toEqual({
    ok: false,
    version: VERSION,
    config: { path: join(home.folder, 'config', 'user.yaml'), present: false, ok: true, error: null },
    store: { kind: null, present: false, event_count: null, chain_ok: null },
    identity: { present: false, node_id: null, public_key: null, encrypted: null, error: null },
    vault: { present: false },
    service: { reachable: false, version: null, uptime_seconds: null },
  })
  expect((await home.run(['health'])).stdout).toContain('"svc up" creates it')
})

it('is well with a store whose chain holds', async () => {
  await home.run(['init', '--dev'])
  await home.run(['kill-switch', 'set', '1'])
  const { exitCode, found } = await health()
  expect(exitCode).toBe(0)
  expect(found).toMatchObject({
    ok: true,
    config: { present: true, ok: true },
    store: { kind: 'memory', present: true, event_count: (await home.records()).length, chain_ok: true },
    identity: { present: true, encrypted: false, error: null },
  })
})

it('names how many of the newest events it has verified', async () => {
  await home.run(['kill-switch', 'set', '1'])
  const few = (await home.records()).length
  expect((await home.run(['health'])).stdout).toContain(`all ${few} events verified`)
  await home.adoptRecords(recordsAfter(EMPTY_HEAD, 1233))
  const { stdout } = await home.run(['health'])
  expect(stdout).toContain('the last 100 of 1,234 events verified')
  expect(stdout).not.toContain('intact')
})

it('is not well when the chain is broken', async () => {
  await home.run(['kill-switch', 'set', '1', '--reason', 'first'])
  await home.replaceRecords(
    (await home.records()).map((record) => ({ ...record, payload: record.payload.replace('first', 'last') })),
  )
  const { exitCode, found } = await health()
  expect(exitCode).toBe(1)
  expect(found).toMatchObject({ ok: false, store: { present: true, chain_ok: false } })
  expect((await home.run(['health'])).stdout).toContain('chain broken')
})

it('is not well with wrong settings, and looks at no store then', async () => {
  await mkdir(join(home.folder, 'config'))
  await writeFile(join(home.folder, 'config', 'user.yaml'), 'bogus: 1\n')
  const { exitCode, found } = await health()
  expect(exitCode).toBe(1)
  expect(found.config).toMatchObject({ present: true, ok: false, error: expect.stringContaining('bogus') })
  expect(found.store.present).toBe(false)
})

it('reports on a store that does not answer, and names the trouble', async () => {
  const { exitCode, found, stderr } = await health({
    dependencies: {
      openExistingStore: () => Promise.reject(new StoreUnavailableError('the database is down')),
    },
  })
  expect(exitCode).toBe(1)
  expect(found).toMatchObject({ ok: false, store: { present: false } })
  expect(JSON.parse(stderr)).toMatchObject({
    status: 503,
    code: 'store.unavailable',
    detail: 'the database is down',
  })
})

it('shows what the service says of itself', async () => {
  const { found } = await health({
    dependencies: {
      findService: () =>
        Promise.resolve({ baseUrl: 'http://127.0.0.1:1/api/v1', version: '9.9.9', uptimeSeconds: 12.5 }),
    },
  })
  expect(found.service).toEqual({ reachable: true, version: '9.9.9', uptime_seconds: 12.5 })
})
