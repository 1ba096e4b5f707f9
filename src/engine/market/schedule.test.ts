import { timestampAt } from '../../core/shared/time.ts'
import { builtInRun } from '../../../test/given.fixture.ts'
import { timestampOf } from '../../core/shared/brand.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testSigner } from '../../../test/signer.fixture.ts'
import { createSystemClock } from '../../adapters/platform/clock/system-clock.ts'
import { MemoryLog } from '../../adapters/storage/memory/memory-log.ts'
import { DEFAULT_CONFIGURATION } from '../../core/config/validate.ts'
import { barAt } from '../../core/market/bars.fixture.ts'
import type { KillSwitchLevel } from '../../core/shared/level.ts'
import { createManualTimer, settle, type ManualTimer } from '../../ports/manual-timer.fixture.ts'
import { Engine } from '../engine.ts'
import { ProducerRunner } from './producer-runner.ts'
import { startSchedule, type Schedule, type ScheduleDependencies } from './schedule.ts'

const BEGIN_MS = Date.parse('2026-02-20T00:29:58.500Z')
const MINUTE_MS = 60_000

let timer: ManualTimer
let engine: Engine
let schedule: Schedule
const polled: string[] = []
const errors: string[] = []
let poll: ScheduleDependencies['poll']

beforeEach(async () => {
  polled.length = 0
  errors.length = 0
  timer = createManualTimer(BEGIN_MS)
  poll = ({ name }) => {
    polled.push(name)
    return Promise.resolve()
  }
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
    configuration: () => DEFAULT_CONFIGURATION,
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
    // Another service on the same log derives the same id and finds that the cycle has run.
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

  it('take nothing of what a producer was before it was registered anew, and ask no removed one', async () => {
    const remove = (name: string) => engine.execute({ kind: 'remove-producer', name, surface: 'api' })
    const runner = new ProducerRunner({
      engine,
      clock: createSystemClock(() => timer.now()),
      onError: (what) => errors.push(what),
    })
    const answers = new Map<string, () => void>()
    poll = async ({ name, schedule: cron, registeredAt }) => {
      polled.push(name)
      await new Promise<void>((resolve) => answers.set(name, resolve))
      const payload = { symbol: 'BTC', whale_netflow: 1 }
      const rows = [{ type: 'signal.onchain.v1', payload, ts: null, dedupeKey: null }]
      const run = { rows, end: 'usable', error: null, rejected: [], durationMs: 1 } as const
      await runner.record({ name, schedule: cron, registeredAt, ...run })
    }
    for (let number = 0; number < 9; number += 1) await register(`p${number}`, '* * * * *')
    await passing(2 * MINUTE_MS)
    expect(polled).toHaveLength(8)
    const last = polled.at(-1) ?? ''
    const waiting = ['p0', 'p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7', 'p8'].find(
      (name) => !polled.includes(name),
    )
    await remove(waiting ?? '')
    await remove(last)
    await register(last, '* * * * *')
    answers.get(last)?.()
    await settle()
    expect(await typesOf('signal.')).toEqual([])
    expect(await typesOf('producer.run')).toEqual([])
    expect(polled).toHaveLength(8)
    // The producer that is registered now is polled next, and its answer is stored.
    await passing(MINUTE_MS)
    expect(polled).toHaveLength(9)
    answers.get(last)?.()
    await settle()
    expect(await typesOf('signal.')).toHaveLength(1)
    expect(errors).toEqual([])
    for (const answer of answers.values()) answer()
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
    // Another service on the same log charges at the same time.
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
    // A Thursday, like the first day of 1970.
    await timer.jump(Date.parse('2026-02-25T23:59:59.000Z') - timer.now())
    await settle()
    expect(await typesOf('learning')).toEqual([])
    await passing(5000)
    expect(await typesOf('learning')).toEqual(['learning.weight_adjustment.v1', 'learning.report.v1'])
    // Another service on the same log learns at the same time.
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
