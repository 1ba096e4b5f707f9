import { afterEach, beforeEach, expect, it } from 'vitest'
import { BUILTIN_PRODUCERS } from '../../../core/signal-types/all.ts'
import { producerStatusView } from '../../../core/views/producers.ts'
import { openTestHome, type TestHome } from '../test-home.fixture.ts'

let home: TestHome
beforeEach(async () => {
  home = await openTestHome()
  await home.run(['identity', 'create', '--dev'])
})
afterEach(() => home.close())

const run = (...words: readonly string[]) => home.run(['producers', ...words])
const jsonOf = async (...words: readonly string[]) => {
  const { exitCode, stdout, stderr } = await run(...words, '--json')
  expect([exitCode, stderr]).toEqual([0, ''])
  return JSON.parse(stdout)
}
const P1 = ['--name', 'p1', '--domain', 'Onchain', '--endpoint', 'https://example.com/x']

it('knows the built-in ones where nothing is stored', async () => {
  expect(await jsonOf('list')).toEqual({ producers: [] })
  expect((await run('list')).stdout).toContain('svc producers status')
  const { producers } = await jsonOf('status')
  expect(Object.keys(producers)).toEqual(Object.keys(BUILTIN_PRODUCERS))
  producerStatusView.strict().parse(producers['etf-flows'])
  expect((await run('status')).stdout).toMatch(/\netf-flows +builtin +tradfi +UNKNOWN +never/)
  expect(home.log()).toBeNull()
})

it('registers, lists and removes', async () => {
  const registered = await jsonOf('register', ...P1)
  expect(registered).toEqual({
    id: 'p1',
    name: 'p1',
    domain: 'onchain',
    endpoint: 'https://example.com/x',
    schedule: '*/15 * * * *',
    registered_at: '2026-02-20T00:30:00.000Z',
  })
  expect((await home.records()).slice(-2)).toMatchObject([
    { type: 'producer.registered.v1', source: 'cli' },
    { type: 'system.audit.v1', source: 'cli' },
  ])
  expect(await jsonOf('list')).toEqual({ producers: [registered] })
  expect((await run('list')).stdout).toMatch(/^Name .*\np1 +onchain +\*\/15 \* \* \* \* +https:/)
  expect((await jsonOf('status')).producers.p1).toMatchObject({
    kind: 'registered',
    health: 'unknown',
    healthy: null,
    expected_interval_ms: 900_000,
  })
  expect(await jsonOf('remove', 'p1')).toEqual({ removed: 'p1' })
  expect(await jsonOf('list')).toEqual({ producers: [] })
  await run('register', ...P1, '--schedule', '0 * * * *')
  expect((await run('remove', '--name', 'p1')).stdout).toBe('p1 is removed\n')
})

it.each([
  [['register', ...P1, '--name', 'etf-flows'], 409, 'producer.duplicate', 'etf-flows'],
  [['remove', 'nobody'], 404, 'producer.not_found', 'nobody'],
  [['remove', 'etf-flows'], 404, 'producer.not_found', 'etf-flows'],
])('%# is refused and leaves no trace', async (words, status, code, name) => {
  const { exitCode, stderr } = await run(...words, '--json')
  expect(exitCode).toBe(1)
  expect(JSON.parse(stderr)).toMatchObject({ status, code, name })
  expect(home.log()).toBeNull()
})

it('does not register twice', async () => {
  await run('register', ...P1)
  const before = await home.records()
  expect((await run('register', ...P1)).exitCode).toBe(1)
  expect(await home.records()).toEqual(before)
})

it.each([
  [['register', '--name', 'p1'], '--domain'],
  [['register', ...P1, '--name', '-x'], 'name must begin'],
  [['register', ...P1, '--domain', '1'], 'domain must begin'],
  [['register', ...P1, '--endpoint', 'ftp://x'], 'endpoint must be an absolute http'],
  [['register', ...P1, '--endpoint', 'https://user:password@example.com'], 'without user info'],
  [['register', ...P1, '--schedule', 'often'], 'schedule must be a cron schedule'],
  [['remove'], 'name the producer once'],
  [['remove', 'p1', '--name', 'p2'], 'name the producer once'],
])('%# ends with 2', async (words, why) => {
  const { exitCode, stdout, stderr } = await run(...words)
  expect([exitCode, stdout]).toEqual([2, ''])
  expect(stderr).toContain(why)
  expect(home.log()).toBeNull()
})
