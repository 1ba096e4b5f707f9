import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventsOf } from './acts.ts'
import { cleanUp, newHome, startProcess, untilNextMinute, type ServiceProcess } from './service.ts'

/* What files of the user reach from inside of a service in a process of its own, started with its secrets as variables. */

const SECRET = 'secret-of-the-vault-and-of-the-venue'

/** A second of market each second, with a past. */
const LIVELY = {
  SVC_MARKET__FEED: 'simulated',
  SVC_MARKET__SEED: '4',
  SVC_MARKET__TICK_SECONDS: '1',
  SVC_MARKET__BAR_SECONDS: '1',
  SVC_MARKET__WARMUP_HOURS: '51',
}

/** Says what it was able to do that it must not be, and which variables it sees. */
const LOOT = `
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { kill } from 'node:process'
import { Worker } from 'node:worker_threads'
const home = join(import.meta.dirname, '..')
const acts = {
  'its own environment': () => readFileSync('/proc/self/environ'),
  'the environment of the service': () => readFileSync('/proc/' + process.ppid + '/environ'),
  'the memory of the service': () => readFileSync('/proc/' + process.ppid + '/mem'),
  'the identity': () => readFileSync(join(home, 'identity', 'identity.json')),
  'the settings': () => readFileSync(join(home, 'config', 'user.yaml')),
  'the data': () => readdirSync(join(home, 'data')),
  'a program': () => execFileSync('true'),
  'a thread': () => new Worker('', { eval: true }),
  'a signal to the service': () => process.kill(process.ppid, 0),
  'the imported signal': () => kill(process.ppid, 0),
  'the signal of Node itself': () => process._kill(process.ppid, 0),
  'the debugger of the service': () => process._debugProcess(process.ppid),
  'the process by another name': () => process.getBuiltinModule?.('process').kill(process.ppid, 0) ?? process.kill(process.ppid, 0),
  'a file of its folder': () => writeFileSync(join(import.meta.dirname, 'written.js'), ''),
}
export const loot = () => ({
  done: Object.entries(acts).flatMap(([name, act]) => {
    try { act() } catch (error) { return error.code === 'ERR_ACCESS_DENIED' ? [] : [name + ': ' + error.code] }
    return [name]
  }),
  variables: Object.keys(process.env).filter((name) => !['PATH', 'TZ', 'LANG', 'LC_ALL'].includes(name)),
})
`

const PRELOAD = fileURLToPath(new URL('shifted-clock.mjs', import.meta.url))

let service: ServiceProcess
beforeAll(async () => {
  const home = await newHome()
  for (const folder of ['strategies', 'producers', 'config']) await mkdir(join(home, folder), { mode: 0o700 })
  await writeFile(
    join(home, 'config', 'user.yaml'),
    'strategies:\n  curious: { enabled: true, symbols: [BTC] }\n',
  )
  for (const folder of ['strategies', 'producers']) await writeFile(join(home, folder, '_loot.mjs'), LOOT)
  await writeFile(
    join(home, 'strategies', 'curious.ts'),
    `import { defineStrategy, z } from 'signal-engine/strategy'
import { loot } from './_loot.mjs'
export default defineStrategy({
  name: 'curious', parameters: z.object({}), timeframes: ['1m'], warmUpBars: 0,
  create: () => ({ onBar: () => ({ side: 'long', size: 0.05, reason: JSON.stringify(loot()) }) }),
})`,
  )
  await writeFile(
    join(home, 'strategies', 'talkative.ts'),
    `import { defineStrategy, z } from 'signal-engine/strategy'
import { loot } from './_loot.mjs'
export default defineStrategy({
  name: 'talkative', parameters: z.object({}), timeframes: ['1h'], warmUpBars: 0,
  create: () => ({ onBar: () => { throw new Error(JSON.stringify(loot())) } }),
})`,
  )
  await writeFile(
    join(home, 'producers', 'nosy.ts'),
    `import { defineProducer } from 'signal-engine/producer'
import { loot } from './_loot.mjs'
export default defineProducer({
  name: 'nosy', domain: 'technical', schedule: '* * * * *',
  run: () => ({ status: 'ran', rows: [{ type: 'signal.technical.nosy.v1', payload: { symbol: 'BTC', loot: loot() } }] }),
})`,
  )
  await chmod(join(home, 'producers', '_loot.mjs'), 0o666)
  // Its minute ends soon after the start.
  const clock = join(home, 'clock-offset')
  await writeFile(clock, String(untilNextMinute(10)))
  service = await startProcess(home, {
    ...LIVELY,
    SVC_MASTER_PASSWORD: SECRET,
    VENUE_SECRET: SECRET,
    NODE_OPTIONS: `--import ${PRELOAD}`,
    TEST_CLOCK_FILE: clock,
  })
})
afterAll(cleanUp)

const NOTHING = { done: [], variables: [] }

describe('code of the user in a service', () => {
  it('that others can write to is named at the start', () => {
    expect(service.output()).toContain('others than their owner can write to producers/_loot.mjs: run chmod')
  })

  it('of a strategy reaches no secret, and trades', async () => {
    const calls = () => eventsOf(service, 'signal.strategy')
    await expect.poll(async () => (await calls()).length).toBeGreaterThan(0)
    const call = (await calls()).at(-1)
    expect(JSON.parse(String(call?.payload['rationale']))).toEqual(NOTHING)
    const traded = async () =>
      (await eventsOf(service, 'execution.position_opened')).map(({ payload }) => payload['signal_ids'])
    await expect.poll(traded).toContainEqual([call?.id])
  })

  it.skipIf(process.platform === 'win32')('finds no debugger, whatever signal the service gets', async () => {
    service.signal('SIGUSR1')
    expect((await service.call('GET', '/health')).status).toBe(200)
    expect(service.output()).not.toContain('Debugger listening')
  })

  it('of a producer reaches no secret, and speaks', async () => {
    const said = async () => (await eventsOf(service, 'signal.technical.nosy'))[0]?.payload['loot']
    await expect.poll(said).toEqual(NOTHING)
  })

  it('of a strategy reaches no secret in a backtest that the service runs', async () => {
    const body = {
      strategy: 'talkative',
      symbol: 'BTC',
      from: '2026-01-05T00:00:00Z',
      to: '2026-01-06T00:00:00Z',
    }
    const { id } = (await service.call('POST', '/backtests', { body })).body as { readonly id: string }
    const run = async () => JSON.stringify((await service.call('GET', `/backtests/${id}`)).body)
    await expect.poll(run).toContain('"status":"failed"')
    expect(await run()).toContain(JSON.stringify(`talkative: ${JSON.stringify(NOTHING)}`).slice(1, -2))
  })
})
