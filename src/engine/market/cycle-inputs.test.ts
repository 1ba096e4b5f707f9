import { timestampAt } from '../../core/shared/time.ts'
import { builtInRun } from '../../../test/given.fixture.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testSigner } from '../../../test/signer.fixture.ts'
import { createSystemClock } from '../../adapters/platform/clock/system-clock.ts'
import { MemoryLog } from '../../adapters/storage/memory/memory-log.ts'
import type { Configuration } from '../../core/config/schema.ts'
import { DEFAULT_CONFIGURATION } from '../../core/config/validate.ts'
import type { PayloadOf } from '../../core/events/catalogue.ts'
import { createManualTimer, settle, type ManualTimer } from '../../ports/manual-timer.fixture.ts'
import { Engine } from '../engine.ts'
import { NOTHING_AWAITED, type Arrivals } from './arrivals.ts'
import { startSchedule, type Schedule, type ScheduleDependencies } from './schedule.ts'

const BEGIN_MS = Date.parse('2026-02-20T00:29:58.500Z')
const MINUTE_MS = 60_000

let timer: ManualTimer
let engine: Engine
let schedule: Schedule
const polled: string[] = []
const errors: string[] = []
let poll: ScheduleDependencies['poll']
let bars: Arrivals
let configuration: Configuration

beforeEach(async () => {
  polled.length = 0
  errors.length = 0
  timer = createManualTimer(BEGIN_MS)
  poll = ({ name }) => {
    polled.push(name)
    return Promise.resolve()
  }
  configuration = DEFAULT_CONFIGURATION
  bars = { arrived: () => Promise.resolve(), arrivedBy: () => NOTHING_AWAITED }
  engine = await Engine.open({
    log: new MemoryLog(),
    signer: testSigner(),
    clock: createSystemClock(() => timer.now()),
    snapshotEveryEvents: 1000,
    onError: (what) => errors.push(what),
  })
  schedule = startSchedule({
    engine,
    timer,
    configuration: () => configuration,
    bars: { arrived: (closeMs) => bars.arrived(closeMs), arrivedBy: (closeMs) => bars.arrivedBy(closeMs) },
    poll: (producer, signal) => poll(producer, signal),
    onError: (what) => errors.push(what),
  })
})
afterEach(async () => {
  await schedule.close()
  await engine.close()
})

const passing = async (ms: number): Promise<void> => {
  await timer.advance(ms)
  await settle()
}
const say = () =>
  engine.execute(
    builtInRun('technical-analysis', 'signal.ta.v1', { symbol: 'BTC', rsi_14: 20 }, { ts: now() }),
  )
const SOCIAL = { symbol: 'BTC', score: 9, direction: 'bullish', source_count: 1 }
const now = () => timestampAt(timer.now())
const register = (name: string, cron: string) =>
  engine.execute({
    kind: 'register-producer',
    producer: { name, domain: 'onchain', endpoint: 'https://example.com', schedule: cron },
    surface: 'api',
  })

describe('a cycle', () => {
  /** Cycles after 00:30:00, which is 1.5 seconds away. */
  const cycles = async () =>
    (await engine.log.read({ types: ['brain.cycle'], order: 'asc', limit: 10 })).map(
      ({ payload }) => JSON.parse(payload) as PayloadOf<'brain.cycle.v1'>,
    )
  const waitForPoll = () => {
    let end = (): void => undefined
    poll = () =>
      new Promise((resolve) => {
        end = resolve
      })
    return () => end()
  }

  it('starts when the bar is stored and its producers have run, for the time at which it was due', async () => {
    await say()
    let arrive = (): void => undefined
    bars = {
      arrived: (closeMs) => {
        expect(timestampAt(closeMs)).toBe('2026-02-20T00:30:00.000Z')
        return new Promise((resolve) => {
          arrive = resolve
        })
      },
      arrivedBy: () => ({ bar: 'stored', producers: ['technical-analysis'], late_producers: [] }),
    }
    await passing(3500)
    expect(await cycles()).toEqual([])
    arrive()
    await settle()
    expect(await cycles()).toMatchObject([
      {
        started_at: '2026-02-20T00:30:02.000Z',
        as_of: '2026-02-20T00:30:00.000Z',
        awaited: { bar: 'stored', producers: ['technical-analysis'], late_producers: [] },
      },
    ])
  })

  it('waits for what does not come until its deadline, and records it', async () => {
    await say()
    bars = {
      arrived: () => new Promise(() => undefined),
      arrivedBy: () => ({ bar: 'late', producers: [], late_producers: ['technical-analysis'] }),
    }
    await passing(6400)
    expect(await cycles()).toEqual([])
    await passing(200)
    expect(await cycles()).toMatchObject([
      {
        started_at: '2026-02-20T00:30:05.000Z',
        awaited: { bar: 'late', late_producers: ['technical-analysis'] },
      },
    ])
    // The next minute is not delayed by it.
    bars = { arrived: () => Promise.resolve(), arrivedBy: () => NOTHING_AWAITED }
    await passing(30 * MINUTE_MS)
    expect(await cycles()).toMatchObject([{}, { started_at: '2026-02-20T01:00:00.000Z' }])
  })

  it('waits for polls that are due, and names those that hang', async () => {
    await say()
    await register('quick', '*/30 * * * *')
    const end = waitForPoll()
    await passing(2500)
    end()
    await settle()
    await register('hangs', '*/30 * * * *')
    poll = ({ name }, signal) =>
      name === 'hangs'
        ? new Promise((resolve) => signal.addEventListener('abort', () => resolve()))
        : Promise.resolve()
    await passing(30 * MINUTE_MS + 10_000)
    expect(await cycles()).toMatchObject([
      {
        started_at: '2026-02-20T00:30:01.000Z',
        awaited: { bar: 'none', producers: ['quick'], late_producers: [] },
      },
      {
        started_at: '2026-02-20T01:00:05.000Z',
        awaited: { bar: 'none', producers: ['quick'], late_producers: ['hangs'] },
      },
    ])
  })

  it('waits for nothing with a deadline of 0, and never longer than until the next one', async () => {
    await say()
    bars = { arrived: () => new Promise(() => undefined), arrivedBy: () => NOTHING_AWAITED }
    const deadlined = (seconds: number, interval: number): Configuration => ({
      ...DEFAULT_CONFIGURATION,
      brain: {
        ...DEFAULT_CONFIGURATION.brain,
        cycle_deadline_seconds: seconds,
        cycle_interval_seconds: interval,
      },
    })
    configuration = deadlined(0, 1800)
    await passing(1600)
    expect(await cycles()).toMatchObject([{ started_at: '2026-02-20T00:30:00.000Z' }])
    configuration = deadlined(60, 2)
    await passing(60_000)
    const all = (await cycles()).map(({ as_of }) => Date.parse(as_of ?? ''))
    expect(all.length).toBeGreaterThan(5)
    for (const [index, ms] of all.slice(2).entries()) expect(ms - (all[index + 1] ?? 0)).toBe(2000)
  })

  it('counts ages of signals from its time, and takes what came while it waited', async () => {
    await say()
    bars = { arrived: () => new Promise(() => undefined), arrivedBy: () => NOTHING_AWAITED }
    await passing(3000)
    await engine.execute(
      builtInRun('market-sentiment', 'signal.social.v1', SOCIAL, { ts: timestampAt(timer.now()) }),
    )
    await passing(5000)
    const [conviction] = await engine.log.read({ types: ['brain.conviction'], order: 'asc', limit: 1 })
    const { inputs } = JSON.parse(conviction?.payload ?? '') as PayloadOf<'brain.conviction.v1'>
    expect(inputs.map(({ author, quality }) => [author, quality])).toEqual([
      ['market-sentiment', 1],
      ['technical-analysis', 1],
    ])
  })
})
