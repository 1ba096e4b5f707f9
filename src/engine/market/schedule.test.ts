import { timestampAt } from '../../core/shared/time.ts'
import { builtInRun } from '../../../test/given.fixture.ts'
import { timestampOf } from '../../core/shared/brand.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testSigner } from '../../../test/signer.fixture.ts'
import { createSystemClock } from '../../adapters/platform/clock/system-clock.ts'
import { MemoryLog } from '../../adapters/storage/memory/memory-log.ts'
import type { Configuration } from '../../core/config/schema.ts'
import { DEFAULT_CONFIGURATION } from '../../core/config/validate.ts'
import type { PayloadOf } from '../../core/events/catalogue.ts'
import { barAt } from '../../core/market/bars.fixture.ts'
import type { KillSwitchLevel } from '../../core/shared/level.ts'
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
const typesOf = async (prefix: string): Promise<readonly string[]> =>
  (await engine.log.read({ order: 'asc', limit: 1000 }))
    .map(({ type }) => type)
    .filter((type) => type.startsWith(prefix))
const say = () =>
  engine.execute(
    builtInRun('technical-analysis', 'signal.ta.v1', { symbol: 'BTC', rsi_14: 20 }, { ts: now() }),
  )
const SOCIAL = { symbol: 'BTC', score: 9, direction: 'bullish', source_count: 1 }
const now = () => timestampAt(timer.now())
const setLevel = (level: KillSwitchLevel) =>
  engine.execute({
    kind: 'set-kill-switch',
    move: { level, reason: 'test', operator: 'svc-1', surface: 'api' },
  })
const register = (name: string, cron: string) =>
  engine.execute({
    kind: 'register-producer',
    producer: { name, domain: 'onchain', endpoint: 'https://example.com', schedule: cron },
    surface: 'api',
  })

describe('calls', () => {
  it('that no bar decides are void when their time is over', async () => {
    await say()
    await passing(4 * 60 * MINUTE_MS + 29 * MINUTE_MS)
    expect(await typesOf('attribution.resolved')).toEqual([])
    await passing(3 * MINUTE_MS)
    expect(await typesOf('attribution.resolved')).toHaveLength(1)
    expect(engine.state.reputation.calls.open.size).toBe(0)
  })
})

describe('cycles', () => {
  it('run on the grid, with an id that every process derives alike', async () => {
    await say()
    await passing(1400)
    expect(await typesOf('brain.cycle')).toEqual([])
    await passing(200)
    await passing(30 * MINUTE_MS)
    expect(await typesOf('brain.cycle')).toHaveLength(2)
    expect(engine.state.brain.lastCycle).toMatchObject({ at: '2026-02-20T01:00:00.000Z' })
    // Another service on the same log comes to the same id and finds that the cycle has been run.
    const cycleId = engine.state.brain.lastCycle?.id ?? ''
    await engine.execute({ kind: 'run-cycle', cycleId, trigger: 'schedule' })
    expect(await typesOf('brain.cycle')).toHaveLength(2)
  })

  it('wait for the first signal', async () => {
    await passing(31 * MINUTE_MS)
    expect(await typesOf('')).toEqual([])
  })

  it('run at level 1; above only the regime is watched', async () => {
    await say()
    await setLevel(1)
    await passing(2 * MINUTE_MS)
    expect(await typesOf('brain.cycle')).toHaveLength(1)
    await setLevel(2)
    await passing(30 * MINUTE_MS)
    expect(await typesOf('brain.cycle')).toHaveLength(1)
    expect(await typesOf('brain.regime_change')).toHaveLength(1)
  })

  it('are not made up for after a pause', async () => {
    await say()
    await timer.jump(5 * 60 * MINUTE_MS)
    await settle()
    expect(await typesOf('brain.cycle')).toHaveLength(1)
  })
})

describe('a cycle', () => {
  /** At 00:30:00, which is 1.5 seconds away. */
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
    // The next minute is not late because of it.
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

describe('polls', () => {
  it('follow the schedule of each producer', async () => {
    await register('often', '* * * * *')
    await register('rarely', '0 * * * *')
    await passing(3 * MINUTE_MS)
    expect(polled).toEqual(['often', 'often', 'often'])
    await passing(28 * MINUTE_MS)
    expect(polled.filter((name) => name === 'rarely')).toHaveLength(1)
  })

  it('never overlap, and run at most eight at once', async () => {
    let underWay = 0
    let most = 0
    const ends: (() => void)[] = []
    poll = async ({ name }) => {
      polled.push(name)
      underWay += 1
      most = Math.max(most, underWay)
      await new Promise<void>((resolve) => ends.push(resolve))
      underWay -= 1
    }
    for (let number = 0; number < 12; number += 1) await register(`p${number}`, '* * * * *')
    await passing(3 * MINUTE_MS)
    expect(polled).toHaveLength(8)
    while (ends.length > 0) {
      ends.shift()?.()
      await settle()
    }
    expect([new Set(polled).size, most]).toEqual([12, 8])
  })

  it('skip a producer in quarantine until it ends', async () => {
    await register('broken', '* * * * *')
    const report = {
      name: 'broken',
      end: 'error',
      rows: [],
      rejected: [],
      error: 'no',
      durationMs: 1,
    } as const
    for (let run = 0; run < 5; run += 1) await engine.execute({ kind: 'run-producer', report })
    await passing(59 * MINUTE_MS)
    expect(polled).toEqual([])
    await passing(3 * MINUTE_MS)
    expect(polled.length).toBeGreaterThan(0)
  })
})

it('marks producers that have been silent for too long', async () => {
  const report = {
    name: 'technical-analysis',
    end: 'usable',
    rows: [],
    rejected: [],
    error: null,
    durationMs: 1,
  } as const
  await engine.execute({ kind: 'run-producer', report })
  await passing(47 * MINUTE_MS)
  expect(engine.state.signals.producers.runs.get('technical-analysis')?.health).toBe('stale')
  expect(await typesOf('producer.run')).toHaveLength(2)
})

describe('an open position', () => {
  const observe = (openTs: string, funding_annualized: number | null) =>
    engine.execute({
      kind: 'observe-bars',
      observation: { feed: 'file', bars: [barAt(openTs, 100, { funding_annualized })] },
    })
  const holdBtc = async (): Promise<void> => {
    await observe('2026-02-20T00:28:00.000Z', 12)
    for (const [producerId, type, payload] of [
      ['technical-analysis', 'signal.ta.v1', { symbol: 'BTC', rsi_14: 22 }],
      [
        'market-sentiment',
        'signal.social.v1',
        { symbol: 'BTC', score: 9, direction: 'bullish', source_count: 1 },
      ],
      ['onchain-flows', 'signal.onchain.v1', { symbol: 'BTC', price_momentum_24h: 12 }],
    ] as const) {
      await engine.execute(builtInRun(producerId, type, payload, { ts: now() }))
    }
    await engine.execute({ kind: 'run-cycle', cycleId: 'c', trigger: 'api' })
    expect(engine.state.trading.book.count).toBe(1)
  }

  it('is checked every minute: without a price it counts as degrading', async () => {
    await holdBtc()
    await observe('2026-02-20T00:29:00.000Z', 12)
    expect([...engine.state.trading.positions.values()]).toMatchObject([{ status: 'monitoring' }])
    await passing(5 * MINUTE_MS)
    expect([...engine.state.trading.positions.values()]).toMatchObject([{ status: 'degrading' }])
  })

  it('is charged funding at 08:00 UTC, once', async () => {
    await holdBtc()
    await timer.jump(Date.parse('2026-02-20T07:58:30.000Z') - BEGIN_MS)
    await settle()
    await observe('2026-02-20T07:57:00.000Z', 12)
    expect(await typesOf('execution.funding')).toEqual([])
    await passing(2 * MINUTE_MS)
    await passing(2 * MINUTE_MS)
    expect(await typesOf('execution.funding')).toEqual(['execution.funding_applied.v1'])
    // Another service on the same log comes to the same moment.
    await engine.execute({ kind: 'apply-funding', at: timestampOf('2026-02-20T08:00:00.000Z') })
    expect(await typesOf('execution.funding')).toHaveLength(1)
  })
})

describe('learning', () => {
  const WEEK_MS = 7 * 24 * 60 * MINUTE_MS
  const begin = () =>
    engine.execute({
      kind: 'start',
      started: {
        version: '0',
        node_id: engine.nodeId,
        public_key: 'k',
        ephemeral: false,
        integrity: { ok: true, reason: null, first_bad_seq: null },
      },
    })

  it('runs every week on its grid, once, and makes up for a missed run', async () => {
    await begin()
    await passing(2 * MINUTE_MS)
    expect(await typesOf('learning')).toEqual([])
    // A Thursday, as the first day of 1970.
    await timer.jump(Date.parse('2026-02-25T23:59:59.000Z') - timer.now())
    await settle()
    expect(await typesOf('learning')).toEqual([])
    await passing(5000)
    expect(await typesOf('learning')).toEqual(['learning.weight_adjustment.v1', 'learning.report.v1'])
    // Another service on the same log comes to the same moment.
    const cause = { trigger: 'schedule', due: timestampOf('2026-02-26T00:00:00.000Z') } as const
    await engine.execute({ kind: 'run-learning', cause })
    await passing(5000)
    expect(await typesOf('learning.weight')).toHaveLength(1)
    await timer.jump(3 * WEEK_MS)
    await passing(5000)
    expect(await typesOf('learning.weight')).toHaveLength(2)
  })
})

it('stops without an error while a poll is under way', async () => {
  let seen: AbortSignal | null = null
  poll = (_producer, signal) => {
    seen = signal
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve()))
  }
  await register('slow', '* * * * *')
  await passing(2 * MINUTE_MS)
  await schedule.close()
  expect(seen).toMatchObject({ aborted: true })
  expect(errors).toEqual([])
})
