import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createFileFeed } from '../adapters/feeds/file/file-feed.ts'
import { createHistoryFeed } from '../adapters/feeds/history/history-feed.ts'
import { createDraws } from '../adapters/feeds/simulated/draws.ts'
import { createBarStore } from '../adapters/history/bar-files/bar-store.ts'
import { BUILT_IN_PRODUCERS } from '../adapters/producers/all.ts'
import { MemoryLog } from '../adapters/storage/memory/memory-log.ts'
import { DEFAULT_CONFIGURATION } from '../core/config/validate.ts'
import { EMPTY_HEAD, type Stamped } from '../core/log/event.ts'
import { chain } from '../core/log/hash-chain.ts'
import { barAt } from '../core/market/bars.fixture.ts'
import type { HistoryBar } from '../core/market/history/series.ts'
import { timestampAt } from '../core/shared/time.ts'
import { sha256Hex } from '../engine/sha256.ts'
import type { MarketFeed } from '../ports/market-feed.ts'
import { RecordedTimer } from './recorded-timer.ts'
import { LogFeed } from './log-feed.ts'
import { RecordedBarsFeed, runBacktest } from './recorded-feed.fixture.ts'
import { WARM_UP_BARS } from './run.ts'
import { HOLD } from '../core/strategies/built-in.ts'
import { STRATEGY_NAMES, type StrategyName } from './strategies.ts'

const BEGIN_MS = Date.UTC(2026, 0, 1)
const SHORT_MS = 300_000
const BAR_MS = 900_000
const SHORT_PER_BAR = BAR_MS / SHORT_MS
const TRADED_BARS = 48
const COUNT = (WARM_UP_BARS + TRADED_BARS) * SHORT_PER_BAR

/** Five-minute bars that start at a price, trend for a while and turn. */
const shortBars = (seed: number, fromIndex: number, price: number): readonly HistoryBar[] => {
  const draws = createDraws(seed, 0, 'look-ahead', sha256Hex)
  let close = price
  return Array.from({ length: COUNT - fromIndex }, (_, offset) => {
    const index = fromIndex + offset
    const open = close
    const drift = Math.floor(index / 50) % 2 === 0 ? 0.0016 : -0.0016
    close = open * (1 + drift + (draws.uniform() - 0.5) * 0.012)
    const [low, high] = [Math.min(open, close) * 0.998, Math.max(open, close) * 1.002]
    return { openMs: BEGIN_MS + index * SHORT_MS, open, high, low, close, volume: 10 }
  })
}

const ORIGINAL = shortBars(1, 0, 100)

const CHANGES = ['scaled', 'random', 'removed'] as const
type Change = (typeof CHANGES)[number]

/** Bars in which everything that opens at `index` or later is replaced by another future. */
const changedFrom = (index: number, change: Change, seed: number): readonly HistoryBar[] => {
  const known = ORIGINAL.slice(0, index)
  switch (change) {
    case 'removed':
      return known
    case 'random':
      // The price at that time is known: it is the open.
      return [...known, ...shortBars(seed + 2, index, ORIGINAL[index]?.open ?? 100)]
    case 'scaled':
      return [
        ...known,
        ...ORIGINAL.slice(index).map((bar) => ({
          ...bar,
          open: bar.open * 1.2,
          high: bar.high * 1.2,
          low: bar.low * 1.2,
          close: bar.close * 1.2,
        })),
      ]
  }
}

/** Bars made of three five-minute bars each. The last one may be incomplete. */
const longBars = (bars: readonly HistoryBar[]): readonly HistoryBar[] =>
  Array.from({ length: Math.ceil(bars.length / SHORT_PER_BAR) }, (_, index) => {
    const parts = bars.slice(index * SHORT_PER_BAR, (index + 1) * SHORT_PER_BAR)
    const first = parts[0] as HistoryBar
    return {
      ...first,
      high: Math.max(...parts.map(({ high }) => high)),
      low: Math.min(...parts.map(({ low }) => low)),
      close: parts.at(-1)?.close ?? first.close,
    }
  })

const feedBar = ({ openMs, open, high, low, close, volume }: HistoryBar) =>
  barAt(timestampAt(openMs), close, { resolution_s: BAR_MS / 1000, open, high, low, volume })

let folder = ''
let folders = 0
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'look-ahead-'))
})
afterAll(() => rm(folder, { recursive: true }))

type Source = (bars: readonly HistoryBar[], knownMs: number) => Promise<MarketFeed>

const file: Source = async (bars) => {
  folders += 1
  const path = join(folder, `${folders}.csv`)
  const rows = longBars(bars).map(({ openMs, open, high, low, close, volume }) =>
    [openMs, 'BTC', open, high, low, close, volume].join(','),
  )
  await writeFile(path, ['ts,symbol,open,high,low,close,volume', ...rows, ''].join('\n'))
  const settings = { file: path, speed: 1_000_000, bar_seconds: 60 }
  return createFileFeed({ settings, timer: new RecordedTimer(0) })
}

const parquet =
  (isResampled: boolean): Source =>
  async (bars) => {
    folders += 1
    const store = createBarStore(join(folder, String(folders)))
    const name = { venue: 'test', symbol: 'BTC', seconds: (isResampled ? SHORT_MS : BAR_MS) / 1000 }
    await store.merge(name, isResampled ? bars : longBars(bars), { replaces: false })
    const seconds = BAR_MS / 1000
    const months = () => (isResampled ? store.readResampled(name, seconds) : store.read(name))
    return createHistoryFeed({
      seconds,
      series: [{ symbol: 'BTC', months }],
      timer: new RecordedTimer(0),
    })
  }

/**
 * Events of a run on the original bars, up to the time that stays the same, followed by other bars and extreme signals.
 */
const recorded: Source = async (bars, knownMs) => {
  const { events } = await originalRun
  const known = events.filter(({ recordedAt }) => Date.parse(recordedAt) <= knownMs)
  const later = longBars(bars)
    .filter(({ openMs }) => openMs + BAR_MS > knownMs)
    .flatMap((bar, index): readonly Stamped[] => {
      const closeTs = timestampAt(bar.openMs + BAR_MS)
      const signal = { symbol: 'BTC', rsi_14: index % 2 === 0 ? 5 : 95 }
      const event = (type: string, payload: object, source: string): Stamped => ({
        seq: 0,
        id: `${type} ${closeTs}`,
        type,
        ts: closeTs,
        source,
        traceId: null,
        dedupeKey: null,
        payload: payload as Stamped['payload'],
        recordedAt: closeTs,
      })
      return [
        event('market.bar.v1', { feed: 'recorded', ...feedBar(bar) }, 'market'),
        event('signal.ta.v1', signal, 'technical-analysis'),
      ]
    })
  const log = new MemoryLog()
  const records = chain(
    [...known, ...later].map((event, index) => ({ ...event, seq: index + 1 })),
    EMPTY_HEAD,
    sha256Hex,
  ).map((record) => ({ ...record, signature: null, signer: null, batchSignature: null, commands: null }))
  await log.append(records, EMPTY_HEAD)
  return new LogFeed(log, DEFAULT_CONFIGURATION.brain.cycle_deadline_seconds * 1000)
}

// Prices alone are one domain.
const brain = { min_domains: 1 }
const originalRun = runBacktest(
  longBars(ORIGINAL).map((bar) => [feedBar(bar)]),
  {
    strategy: 'brain',
    producers: BUILT_IN_PRODUCERS,
    brain,
    feed: new RecordedBarsFeed(longBars(ORIGINAL).map((bar) => [feedBar(bar)])),
  },
)

const SOURCES: Readonly<Record<string, Source>> = {
  file,
  'bars in Parquet': parquet(false),
  'bars made of shorter ones in Parquet': parquet(true),
  recorded,
}

const happened = async (
  source: Source,
  strategy: StrategyName,
  bars: readonly HistoryBar[],
  knownMs: number,
): Promise<readonly Stamped[]> => {
  const producers = source === recorded ? [] : BUILT_IN_PRODUCERS
  const feed = await source(bars, knownMs)
  return (await runBacktest([], { strategy, feed, producers, brain })).events
}

/** Events without their number in the log: only the decisions are compared. */
const upTo = (events: readonly Stamped[], isMeant: (ms: number) => boolean): readonly Stamped[] =>
  events.filter(({ recordedAt }) => isMeant(Date.parse(recordedAt)))

/**
 * At the time from which the future differs, the price of the next bar is part of that future: only the convictions
 * must be equal there. Without a future, nothing is decided at its beginning.
 */
const expectSame = (
  [original, changed]: readonly [readonly Stamped[], readonly Stamped[]],
  change: Change,
  knownMs: number,
): void => {
  const [before, after] = [original, changed].map((events) => upTo(events, (ms) => ms <= knownMs)) as [
    readonly Stamped[],
    readonly Stamped[],
  ]
  if (change === 'random') expect(after).toEqual(before)
  if (change === 'removed') {
    expect(after).toEqual(before.slice(0, after.length))
    // A bar that lost a part is missing, and nothing is traded at its open.
    const barMs = knownMs - (knownMs % BAR_MS)
    expect(upTo(before, (ms) => ms < barMs)).toEqual(upTo(after, (ms) => ms < barMs))
  }
  if (change === 'scaled') {
    expect(upTo(after, (ms) => ms < knownMs)).toEqual(upTo(before, (ms) => ms < knownMs))
    const convictions = (events: readonly Stamped[]) =>
      events.filter(({ type }) => type === 'brain.conviction.v1').map(({ payload }) => payload)
    expect(convictions(after)).toEqual(convictions(before))
  }
}

const FIRST_TRADED = WARM_UP_BARS * SHORT_PER_BAR

describe.each(Object.entries(SOURCES))('the future in %s', { timeout: 600_000 }, (_name, source) => {
  // `hold` is computed outside the engine, which decides nothing for it.
  it.each(STRATEGY_NAMES.filter((name) => name !== HOLD))(
    'changes nothing that %s did before',
    async (strategy) => {
      const original = await happened(source, strategy, ORIGINAL, ORIGINAL.length * SHORT_MS + BEGIN_MS)
      expect(original.some(({ type }) => type === 'execution.order_filled.v1')).toBe(true)
      const fills = original
        .filter(({ type }) => type === 'execution.order_filled.v1')
        .map(({ recordedAt }) => (Date.parse(recordedAt) - BEGIN_MS) / SHORT_MS)
        .filter((index) => index < COUNT)
      await fc.assert(
        fc.asyncProperty(
          // Either a time at which a trade was made, at its bars or within them, or any time.
          fc.oneof(
            fc.constantFrom(...fills),
            fc.integer({ min: FIRST_TRADED, max: COUNT - 1 }),
            fc
              .integer({ min: FIRST_TRADED / SHORT_PER_BAR, max: COUNT / SHORT_PER_BAR - 1 })
              .map((bar) => bar * SHORT_PER_BAR),
          ),
          fc.constantFrom(...CHANGES),
          fc.nat(1000),
          async (index, change, seed) => {
            const knownMs = BEGIN_MS + index * SHORT_MS
            const changed = await happened(source, strategy, changedFrom(index, change, seed), knownMs)
            expectSame([original, changed], change, knownMs)
          },
        ),
        {
          numRuns: strategy === 'brain' ? 4 : 6,
          // Every run includes a future that differs from the first fill on: a fill at a later price would differ
          // there.
          examples: fills.slice(0, 1).map((index): [number, Change, number] => [index, 'random', 1]),
        },
      )
    },
  )
})
