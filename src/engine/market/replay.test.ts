import { afterEach, beforeEach, expect, it } from 'vitest'
import { testSigner } from '../../../test/signer.fixture.ts'
import { createSystemClock } from '../../adapters/platform/clock/system-clock.ts'
import { MemoryLog } from '../../adapters/storage/memory/memory-log.ts'
import { DEFAULT_CONFIGURATION } from '../../core/config/validate.ts'
import type { FeedBar } from '../../core/market/bar.ts'
import { barAt } from '../../core/market/bars.fixture.ts'
import { stampedFrom } from '../../core/log/event.ts'
import { timestampAt } from '../../core/shared/time.ts'
import type { FeedListener, MarketFeed } from '../../ports/market-feed.ts'
import { Engine } from '../engine.ts'
import { ReplayTime } from '../replay-time.ts'
import { MarketRunner } from './market-runner.ts'
import { ProducerRunner } from './producer-runner.ts'
import { replaying } from './replay.ts'

const BEGIN_MS = Date.UTC(2024, 1, 1)
const QUARTER_S = 900
const at = (quarters: number): string => timestampAt(BEGIN_MS + quarters * QUARTER_S * 1000)

const configuration = () => ({
  ...DEFAULT_CONFIGURATION,
  market: { ...DEFAULT_CONFIGURATION.market, bar_seconds: QUARTER_S },
  brain: { ...DEFAULT_CONFIGURATION.brain, cycle_interval_seconds: QUARTER_S },
})

let engine: Engine
let time: ReplayTime
let listener: FeedListener | null
const errors: string[] = []

const feed: MarketFeed = {
  name: 'file',
  producers: [],
  start: async (_from, given) => {
    listener = given
  },
  status: () => ({ state: 'running', lastBarAtMs: null, clockOffsetMs: null, error: null }),
  stop: () => Promise.resolve(),
}

const send = (quarter: number, changes: Partial<FeedBar> = {}): Promise<void> | undefined =>
  listener?.onBars([barAt(at(quarter), 100, { resolution_s: QUARTER_S, ...changes })])

beforeEach(async () => {
  errors.length = 0
  time = new ReplayTime(BEGIN_MS)
  const clock = createSystemClock(() => time.now())
  const onError = (what: string): void => void errors.push(what)
  engine = await Engine.open({
    log: new MemoryLog(),
    signer: testSigner(),
    clock,
    snapshotEveryEvents: 1000,
    configuration,
    onError,
  })
  time.follow(() => engine.state.recordedAt)
  let started = Promise.resolve()
  const runner: MarketRunner = new MarketRunner({
    engine,
    feed: replaying(feed, {
      engine,
      time,
      configuration,
      runner: () => ({ arrivals: runner, started }),
      onError,
    }),
    producers: [
      {
        name: 'technical-analysis',
        run: () => ({
          status: 'ran',
          rows: [{ type: 'signal.ta.v1', payload: { symbol: 'BTC', rsi_14: 20 } }],
        }),
      },
    ],
    producerRunner: new ProducerRunner({ engine, clock, onError }),
    configuration,
    onError,
  })
  started = runner.start()
  await started
})
afterEach(() => engine.close())

const recorded = async (type: string) =>
  (await engine.log.read({ types: [type], order: 'asc', limit: 100 })).map(stampedFrom)

it('decides at the close of each bar, after its producers, and records at that time', async () => {
  await send(0, { backfill: true })
  expect(await recorded('brain.cycle')).toEqual([])
  for (const quarter of [1, 2, 3]) await send(quarter)
  const cycles = await recorded('brain.cycle')
  expect(cycles.map(({ recordedAt }) => recordedAt)).toEqual([at(2), at(3), at(4)])
  for (const { payload } of cycles) {
    expect(payload).toMatchObject({
      trigger: 'schedule',
      awaited: { bar: 'stored', producers: ['technical-analysis'], late_producers: [] },
    })
  }
  expect(timestampAt(time.now())).toBe(at(4))
  expect(errors).toEqual([])
})

it('passes through a gap step by step, without bars', async () => {
  await send(0)
  await send(4)
  const cycles = await recorded('brain.cycle')
  expect(cycles.map(({ recordedAt }) => recordedAt)).toEqual([1, 2, 3, 4, 5].map(at))
  expect(cycles.map(({ payload }) => (payload['awaited'] as { bar: string }).bar)).toEqual([
    'stored',
    'late',
    'late',
    'late',
    'stored',
  ])
})

it('refuses bars from before the time that the log has reached', async () => {
  await send(5)
  await expect(send(1)).rejects.toThrow(
    `these bars closed at ${at(2)}, but the log of this home is at ${at(6)}: replay them in a fresh home`,
  )
  expect(await recorded('market.bar')).toHaveLength(1)
})

it('follows what another process records', () => {
  const standby = new ReplayTime(BEGIN_MS)
  let recordedAt = at(3)
  standby.follow(() => recordedAt)
  expect(timestampAt(standby.now())).toBe(at(3))
  recordedAt = at(1)
  expect(timestampAt(standby.now())).toBe(at(3))
})
