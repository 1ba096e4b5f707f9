import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { createCommandDependencies } from './command-dependencies.ts'
import { environmentOf } from './environment.ts'
import { writeServiceFile } from './service-file.ts'
import { startService, type Service } from './service.ts'

const homes: string[] = []
const services: Service[] = []
afterEach(async () => {
  for (const service of services.splice(0)) await service.close()
  for (const home of homes.splice(0)) await rm(home, { recursive: true, force: true })
})

const newHome = async (): Promise<string> => {
  const home = await mkdtemp(join(tmpdir(), 'svc-service-'))
  homes.push(home)
  return home
}

const environmentAt = (home: string, variables: Readonly<Record<string, string>> = {}) =>
  environmentOf(
    home,
    { SVC_API__AUTH_TOKEN: 'a-token-of-more-than-thirty-two-characters', ...variables },
    'test',
  )

const start = async (home: string, options: { port?: number; inMemory?: boolean } = {}): Promise<Service> => {
  const { port = 0, inMemory = false } = options
  const environment = environmentAt(home, { SVC_LOGGING__LEVEL: 'ERROR' })
  const request = { port, dashboard: false, inMemory }
  const service = await startService(environment, request)
  services.push(service)
  return service
}

const portOf = ({ baseUrl }: Service): number => Number(new URL(baseUrl).port)

const find = (home: string, variables: Readonly<Record<string, string>> = {}) =>
  createCommandDependencies(environmentAt(home, variables)).findService()

it('is in a folder for its owner alone, also where that was open', async () => {
  const home = await newHome()
  await mkdir(join(home, 'data'))
  await chmod(join(home, 'data'), 0o755)
  await writeServiceFile(home, { pid: 1, base_url: 'http://127.0.0.1:1', node_id: 'n1', started_at_ms: 0 })
  expect((await stat(join(home, 'data'))).mode & 0o777).toBe(0o700)
})

it('leads commands to the service of their home, whatever its port', async () => {
  const home = await newHome()
  expect(await find(home)).toBeNull()
  const service = await start(home)
  expect(await find(home)).toMatchObject({ baseUrl: service.baseUrl, version: 'test' })
  await services.pop()?.close()
  expect(await find(home)).toBeNull()
  expect(existsSync(join(home, 'data', 'service.json'))).toBe(false)
})

it('finds no service of another home, on the configured port neither', async () => {
  const [home, other] = [await newHome(), await newHome()]
  const port = portOf(await start(other))
  expect(await find(home, { SVC_API__PORT: String(port) })).toBeNull()
})

it('does not take a service of another home for one that was killed', async () => {
  const [home, other] = [await newHome(), await newHome()]
  const { baseUrl } = await start(other)
  const killed = { pid: 1, base_url: baseUrl, node_id: 'svc-1', started_at_ms: Date.now() - 3_600_000 }
  await writeServiceFile(home, killed)
  expect(await find(home)).toBeNull()
})

it.each([-60_000, 60_000])('leads to it also after the clock was set by %i ms', async (setByMs) => {
  const home = await newHome()
  const { baseUrl } = await start(home)
  const environment = environmentAt(home)
  const clock = { ...environment.clock, now: () => Date.now() + setByMs }
  const found = await createCommandDependencies({ ...environment, clock }).findService()
  expect(found).toMatchObject({ baseUrl })
})

it('asks the service that SVC_API_BASE_URL names', async () => {
  const [home, other] = [await newHome(), await newHome()]
  const { baseUrl } = await start(other)
  expect(await find(home, { SVC_API_BASE_URL: baseUrl })).toMatchObject({ baseUrl })
})

it('is left alone by a service that another one has replaced in it', async () => {
  const home = await newHome()
  const first = await start(home)
  const second = await start(home)
  services.splice(services.indexOf(first), 1)
  await first.close()
  expect(await find(home)).toMatchObject({ baseUrl: second.baseUrl })
})

it('is not written for a log in memory', async () => {
  const home = await newHome()
  await start(home, { inMemory: true })
  expect(existsSync(join(home, 'data'))).toBe(false)
})
