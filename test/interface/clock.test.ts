import { copyFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventsOf } from './acts.ts'
import { cleanUp, newHome, startProcess, svc, type RunningService, type Variables } from './service.ts'

afterAll(cleanUp)

const HOUR_MS = 3_600_000
const YEAR_MS = 365 * 24 * HOUR_MS

/** A market that is quick enough to watch. */
const LIVELY = {
  SVC_MARKET__FEED: 'simulated',
  SVC_MARKET__SEED: '4',
  SVC_MARKET__TICK_SECONDS: '1',
  SVC_MARKET__BAR_SECONDS: '1',
  SVC_MARKET__WARMUP_HOURS: '1',
  SVC_BRAIN__CYCLE_INTERVAL_SECONDS: '1',
}

const PRELOAD = fileURLToPath(new URL('shifted-clock.mjs', import.meta.url))

/** A home whose service has a clock that the test sets. */
const newMachine = async () => {
  const home = await newHome()
  const file = join(home, 'clock-offset')
  const setClock = (offsetMs: number): void => {
    // At once, or the service might read half of it.
    writeFileSync(`${file}.new`, String(offsetMs))
    renameSync(`${file}.new`, file)
  }
  setClock(0)
  const variables: Variables = { ...LIVELY, NODE_OPTIONS: `--import ${PRELOAD}`, TEST_CLOCK_FILE: file }
  return { home, setClock, start: () => startProcess(home, variables), variables }
}

const levelOf = async (service: RunningService): Promise<number> =>
  ((await service.call('GET', '/kill-switch')).body as { readonly level: number }).level

const newestSeqOf = async (service: RunningService, type: string): Promise<number> =>
  (await eventsOf(service, type))[0]?.seq ?? 0

/** Prices are stored, and cycles run on them. */
const expectToGoOn = async (service: RunningService): Promise<void> => {
  const seq = await newestSeqOf(service, 'system.clock_jumped')
  for (const type of ['market.bar', 'brain.cycle']) {
    await expect.poll(() => newestSeqOf(service, type)).toBeGreaterThan(seq)
  }
  // After a pause bars of the past come first.
  const distanceMs = async (): Promise<number> => {
    const [bar] = await eventsOf(service, 'market.bar')
    return Math.abs(Date.parse(String(bar?.ts)) - Date.now())
  }
  await expect.poll(distanceMs).toBeLessThan(60_000)
}

const recordedTimes = async (service: RunningService): Promise<readonly string[]> => {
  const { body } = await service.call('GET', '/events?limit=500')
  const { items } = body as { readonly items: readonly { readonly recorded_at: string }[] }
  return items.map(({ recorded_at }) => recorded_at).toReversed()
}

describe.each([
  ['set back by an hour', -HOUR_MS],
  ['set a year ahead', YEAR_MS],
])('a running service whose clock is %s', (_, offsetMs) => {
  let machine: Awaited<ReturnType<typeof newMachine>>
  let service: RunningService
  beforeAll(async () => {
    machine = await newMachine()
    service = await machine.start()
  })

  it('says so, alerts, and raises the kill switch to 1', async () => {
    await expect.poll(() => newestSeqOf(service, 'brain.cycle')).toBeGreaterThan(0)
    expect(await levelOf(service)).toBe(0)
    machine.setClock(offsetMs)
    await expect.poll(() => newestSeqOf(service, 'system.clock_jumped')).toBeGreaterThan(0)
    const [jump] = await eventsOf(service, 'system.clock_jumped')
    expect(jump?.payload).toMatchObject({ cause: 'wall_clock', limit_seconds: 10 })
    expect(Math.abs(Number(jump?.payload['jump_seconds']) * 1000 - offsetMs)).toBeLessThan(2000)
    expect(await newestSeqOf(service, 'alert.clock_jump')).toBeGreaterThan(0)
    expect(await levelOf(service)).toBe(1)
    expect(service.output()).toContain('the clock of the machine jumped')
  })

  it('goes on with prices and cycles by the time that passes', async () => {
    await expectToGoOn(service)
  })

  it('does not write that time into the log, and starts again as if nothing had been', async () => {
    machine.setClock(0)
    await expect.poll(async () => (await eventsOf(service, 'system.clock_jumped')).length).toBe(2)
    const times = await recordedTimes(service)
    expect(times).toEqual(times.toSorted())
    expect(Date.parse(times.at(-1) ?? '')).toBeLessThan(Date.now() + 60_000)
    await service.stop()
    service = await machine.start()
    await expectToGoOn(service)
    expect(await eventsOf(service, 'system.clock_jumped')).toHaveLength(2)
    await service.stop()
  })
})

describe('a service that ran for some seconds with a clock a year ahead', () => {
  let copiedEvents: number
  let machine: Awaited<ReturnType<typeof newMachine>>
  let service: RunningService
  beforeAll(async () => {
    machine = await newMachine()
    service = await machine.start()
    await service.stop()
    const file = join(machine.home, 'data', 'events.db')
    copyFileSync(file, `${file}.copy`)
    const { stdout } = await svc(machine.home, ['health', '--json'], machine.variables)
    copiedEvents = (JSON.parse(stdout) as { store: { event_count: number } }).store.event_count
    machine.setClock(YEAR_MS)
    service = await machine.start()
  })

  it('notices that its log is ahead, and raises the kill switch to 1', async () => {
    await expect.poll(() => newestSeqOf(service, 'brain.cycle')).toBeGreaterThan(0)
    await service.stop()
    machine.setClock(0)
    service = await machine.start()
    await expect.poll(() => newestSeqOf(service, 'system.clock_jumped')).toBeGreaterThan(0)
    expect((await eventsOf(service, 'system.clock_jumped'))[0]?.payload).toMatchObject({ cause: 'log_ahead' })
    expect(await levelOf(service)).toBe(1)
  })

  it('takes bars and runs cycles at the right time', async () => {
    await expectToGoOn(service)
    const times = await recordedTimes(service)
    expect(times).toEqual(times.toSorted())
    const [cycle] = await eventsOf(service, 'brain.cycle')
    expect(Math.abs(Date.parse(String(cycle?.ts)) - Date.now())).toBeLessThan(60_000)
  })

  it('is told by svc doctor what is wrong and what to do', async () => {
    const { exitCode, stdout } = await svc(machine.home, ['doctor', '--json'], machine.variables)
    expect(exitCode).toBe(1)
    const { checks } = JSON.parse(stdout) as { readonly checks: readonly Diagnosis[] }
    expect(checks).toMatchObject([
      { check: 'log', ok: true, steps: [] },
      { check: 'clock', ok: false },
      { check: 'lease', ok: true, steps: [] },
    ])
    expect(checks[1]?.detail).toContain(`events ${copiedEvents + 1} to `)
    expect(checks[1]?.steps.join('\n')).toContain('svc kill-switch reset --level 0')
  })

  it('says it once: an operator who has lowered the level is not overruled at the next start', async () => {
    const lowered = await service.call('POST', '/kill-switch', {
      body: { level: 0, reason: 'the clock is right again' },
    })
    expect(lowered.status).toBeLessThan(300)
    await service.stop()
    service = await machine.start()
    await expectToGoOn(service)
    expect(await eventsOf(service, 'system.clock_jumped')).toHaveLength(1)
    expect(await levelOf(service)).toBe(0)
    await service.stop()
  })

  it('gets back to a log without these times by the steps of the guide', async () => {
    const file = join(machine.home, 'data', 'events.db')
    for (const left of [`${file}-wal`, `${file}-shm`]) rmSync(left, { force: true })
    copyFileSync(`${file}.copy`, file)
    const accepted = await svc(
      machine.home,
      ['integrity', '--accept-loss', '--reason', 'a clock was ahead'],
      machine.variables,
    )
    expect(accepted.exitCode).toBe(0)
    expect(await svc(machine.home, ['doctor'], machine.variables)).toMatchObject({ exitCode: 0 })
    service = await machine.start()
    // The loss has locked it, as any loss does.
    expect(await levelOf(service)).toBe(3)
    const lowered = await service.call('POST', '/kill-switch', { body: { level: 0, reason: 'accepted' } })
    expect(lowered.status).toBe(200)
    await expectToGoOn(service)
    expect(await eventsOf(service, 'system.clock_jumped')).toEqual([])
    await service.stop()
  })
})

interface Diagnosis {
  readonly check: string
  readonly ok: boolean
  readonly detail: string
  readonly steps: readonly string[]
}
