import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { environmentOf } from './environment.ts'
import { runUntilSignal, startService } from './service.ts'

const OLD = 'the-old-token-of-more-than-thirty-two-characters'
const NEW = 'the-new-token-of-more-than-thirty-two-characters'

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

const endings: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).toReversed()) await end()
})

/** A home whose settings hold a token. */
const newHome = async (): Promise<string> => {
  const home = await mkdtemp(join(tmpdir(), 'svc-service-'))
  endings.push(() => rm(home, { recursive: true, force: true }))
  await mkdir(join(home, 'config'))
  await writeFile(join(home, 'config', 'user.yaml'), `api:\n  auth_token: ${OLD}\n`, { mode: 0o600 })
  return home
}

const environmentAt = (home: string) => environmentOf(home, { SVC_LOGGING__LEVEL: 'ERROR' }, 'test')

const start = async (home: string): Promise<string> => {
  const service = await startService(environmentAt(home), { port: 0, dashboard: false })
  endings.push(() => service.close())
  return service.baseUrl
}

const statusWith = async (baseUrl: string, token: string): Promise<number> => {
  const { status } = await fetch(`${baseUrl}/config`, { headers: { authorization: `Bearer ${token}` } })
  return status
}

it('takes no token that was replaced at another service of the same home', async () => {
  const home = await newHome()
  const [first, second] = [await start(home), await start(home)]
  expect(await statusWith(second, OLD)).toBe(200)
  const changed = await fetch(`${first}/config`, {
    method: 'POST',
    headers: { authorization: `Bearer ${OLD}`, 'content-type': 'application/json' },
    body: JSON.stringify({ api: { auth_token: NEW } }),
  })
  expect(changed.status).toBe(200)
  expect(await statusWith(first, OLD)).toBe(401)
  await vi.waitFor(async () => expect(await statusWith(second, OLD)).toBe(401), { timeout: 10_000 })
  expect(await statusWith(second, NEW)).toBe(200)
})

it('is stopped in order by a signal that comes while it starts', async () => {
  const home = await newHome()
  // Others in this process may listen, too, and would end it.
  for (const signal of SIGNALS) {
    const before = process.listeners(signal)
    process.removeAllListeners(signal)
    endings.push(async () => {
      process.removeAllListeners(signal)
      for (const listener of before) process.on(signal, listener)
    })
  }
  const starting = runUntilSignal(environmentAt(home), { port: 0, dashboard: false })
  process.emit('SIGTERM')
  const { baseUrl, stopped } = await starting
  await stopped
  await expect(fetch(`${baseUrl}/health`)).rejects.toThrow('fetch failed')
  expect(existsSync(join(home, 'data', 'service.json'))).toBe(false)
})
