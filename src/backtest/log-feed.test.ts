import { type Timestamp, timestampOf } from '../core/shared/brand.ts'
import { describe, expect, it } from 'vitest'
import { createSimulatedFeed } from '../adapters/feeds/simulated/simulated-feed.ts'
import { BUILT_IN_PRODUCERS } from '../adapters/producers/all.ts'
import { MemoryLog } from '../adapters/storage/memory/memory-log.ts'
import type { Configuration } from '../core/config/schema.ts'
import { DEFAULT_CONFIGURATION } from '../core/config/validate.ts'
import { EMPTY_HEAD, type Stamped } from '../core/log/event.ts'
import { chain } from '../core/log/hash-chain.ts'
import { barAt } from '../core/market/bars.fixture.ts'
import { DAY_MS, timestampAt } from '../core/shared/time.ts'
import { sha256Hex } from '../engine/sha256.ts'
import type { MarketFeed } from '../ports/market-feed.ts'
import { LogFeed, type RecordedInput } from './log-feed.ts'
import { RecordedTimer } from './recorded-timer.ts'
import { backtest, NoBarsError } from './run.ts'
import type { BacktestDependencies } from './run-dependencies.ts'

const FROM_MS = Date.UTC(2026, 0, 5)

const market = {
  ...DEFAULT_CONFIGURATION.market,
  feed: 'simulated',
  tick_seconds: 60,
  bar_seconds: 900,
  warmup_hours: 50,
} as const

const settings: Configuration = {
  ...DEFAULT_CONFIGURATION,
  market,
  universe: { ...DEFAULT_CONFIGURATION.universe, symbols: ['BTC'] },
}

const run = async (feed: MarketFeed, changes: Partial<BacktestDependencies> = {}) => {
  const events: Stamped[] = []
  const result = await backtest({
    strategy: 'brain',
    feed,
    producers: [],
    settings,
    version: 'test',
    fromMs: null,
    toMs: null,
    resetsDaily: false,
    onError: (message) => {
      throw new Error(message)
    },
    onEvents: (some) => events.push(...some),
    ...changes,
  })
  return { result, events }
}

const logOf = async (events: readonly Stamped[]): Promise<MemoryLog> => {
  const log = new MemoryLog()
  const records = chain(events, EMPTY_HEAD, sha256Hex).map((record) => ({
    ...record,
    signature: null,
    signer: null,
    batchSignature: null,
    commands: null,
  }))
  await log.append(records, EMPTY_HEAD)
  return log
}

/** Some days of a simulated market, as a log has them. */
const simulated = () =>
  run(createSimulatedFeed({ settings: market, timer: new RecordedTimer(FROM_MS), sha256Hex }), {
    producers: BUILT_IN_PRODUCERS,
    fromMs: FROM_MS,
    toMs: FROM_MS + 4 * DAY_MS,
  })

const fillsIn = (events: readonly Stamped[]) =>
  events
    .filter(({ type }) => type === 'execution.order_filled.v1')
    .map(({ recordedAt, payload }) => [recordedAt, payload['fill_price'], payload['fill_size']])

const typed = (seq: number, type: string, payload: object, recordedAt: string): Stamped => ({
  seq,
  id: `id-${seq}`,
  type,
  ts: timestampOf(recordedAt),
  source: 'test',
  traceId: null,
  dedupeKey: null,
  payload: payload as Stamped['payload'],
  recordedAt: timestampOf(recordedAt),
})

describe('a run through a log', () => {
  it('trades as the one that wrote it, if the settings are the same', async () => {
    const first = await simulated()
    expect(fillsIn(first.events).length).toBeGreaterThan(2)
    const again = await run(new LogFeed(await logOf(first.events)))
    expect(fillsIn(again.events)).toEqual(fillsIn(first.events))
    expect(again.result.account.days).toEqual(first.result.account.days)
    expect(again.result.bars).toBe(first.result.bars)
    const others = await run(new LogFeed(await logOf(first.events)), {
      settings: { ...settings, brain: { ...settings.brain, min_domains: 6 } },
    })
    expect(fillsIn(others.events)).not.toEqual(fillsIn(first.events))
  })

  it('fails for a log without bars', async () => {
    await expect(run(new LogFeed(new MemoryLog()))).rejects.toThrow(NoBarsError)
    await expect(run(new LogFeed(new MemoryLog()))).rejects.toThrow('the log has no bars')
  })

  it('fails where the log cannot be read to its end', async () => {
    const { events } = await simulated()
    const log = await logOf(events)
    const failing = {
      read: async (query: Parameters<MemoryLog['read']>[0]) => {
        if ((query.after ?? 0) > 2000) throw new Error('the disk is gone')
        return log.read(query)
      },
    }
    await expect(run(new LogFeed(failing))).rejects.toThrow(
      'could not read the log to its end: the disk is gone',
    )
  })
})

const CYCLE = {
  cycle_id: 'c',
  symbols: [],
  regime: 'BULL',
  kill_switch_level: 0,
  weights: {},
  data_quality: {},
  signals_used: {},
  intents: 0,
  duration_ms: 0,
  weights_version: 0,
  config_hash: '',
  engine_version: '',
  stale_cycles: 0,
  warnings: [],
}

describe('what was said', () => {
  /** The events around each group of bars. */
  const deliveredFrom = async (events: readonly Stamped[]) => {
    const feed = new LogFeed(await logOf(events))
    const delivered: unknown[] = []
    const idsOf = (around: readonly RecordedInput[]) => around.map(({ event: { id } }) => id)
    await feed.start(
      { symbols: ['BTC'], segment: 1, lastBars: new Map() },
      {
        onBars: async (bars) => {
          const { before, after } = feed.surroundingEvents()
          delivered.push([
            idsOf(before),
            bars.map(({ symbol, open_ts }) => `${symbol} ${open_ts.slice(14, 16)}`),
            idsOf(after),
          ])
        },
        onTick: () => undefined,
        onError: () => undefined,
      },
    )
    while (feed.status().state === 'running') await new Promise(setImmediate)
    await feed.stop()
    return delivered
  }

  const at = (minute: number, ms = 0): Timestamp => timestampAt(FROM_MS + minute * 60_000 + ms)
  const bar = (seq: number, minute: number, symbol = 'BTC') =>
    typed(seq, 'market.bar.v1', { feed: 'x', ...barAt(at(minute), 100, { symbol }) }, at(minute + 1))
  const signal = (seq: number, recordedAt: string) =>
    typed(seq, 'signal.social.v1', { symbol: 'BTC', score: 3 }, recordedAt)

  it('is delivered between the bars between which it was recorded', async () => {
    const delivered = await deliveredFrom([
      signal(1, at(0, 500)),
      bar(2, 0),
      // Within a second of the close, and later.
      signal(3, at(1, 1000)),
      signal(4, at(1, 1001)),
      signal(5, at(1, 30_000)),
      bar(6, 1, 'ETH'),
      bar(7, 1),
    ])
    expect(delivered).toEqual([
      [['id-1'], ['BTC 00'], ['id-3']],
      [['id-4', 'id-5'], ['BTC 01'], []],
    ])
  })

  it('belongs to the bars whose cycle came after it, and not to those whose cycle came before', async () => {
    const cycle = (seq: number, minute: number, lateMs: number, trigger = 'schedule') =>
      typed(
        seq,
        'brain.cycle.v1',
        { ...CYCLE, trigger, started_at: at(minute, lateMs), as_of: at(minute) },
        at(minute, lateMs),
      )
    const delivered = await deliveredFrom([
      bar(1, 0),
      // A poll that took a while, for which the cycle waited.
      signal(2, at(1, 4200)),
      cycle(3, 1, 4300),
      signal(4, at(1, 4400)),
      bar(5, 1),
      cycle(6, 2, 5),
      signal(7, at(2, 10)),
      bar(8, 2),
      cycle(9, 3, 1, 'api'),
      signal(10, at(3, 10)),
    ])
    expect(delivered).toEqual([
      [[], ['BTC 00'], ['id-2']],
      [['id-4'], ['BTC 01'], []],
      [['id-7'], ['BTC 02'], ['id-10']],
    ])
  })

  it('leaves out what the engine concluded, and what is damaged', async () => {
    const delivered = await deliveredFrom([
      typed(1, 'brain.regime_change.v1', { regime: 'BULL', previous: null, evidence: {} }, at(0)),
      typed(2, 'contributor.registered.v1', { name: 7 }, at(0)),
      signal(3, at(0)),
      bar(4, 0),
    ])
    expect(delivered).toEqual([[['id-3'], ['BTC 00'], []]])
  })
})
