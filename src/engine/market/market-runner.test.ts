import { canonicalSymbol } from '../../core/shared/symbol.ts'
import { timestampAt } from '../../core/shared/time.ts'
import { timestampOf, type Timestamp } from '../../core/shared/brand.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testSigner } from '../../../test/signer.fixture.ts'
import { appendTo } from '../../../test/records.fixture.ts'
import { createSystemClock } from '../../adapters/platform/clock/system-clock.ts'
import { MemoryLog } from '../../adapters/storage/memory/memory-log.ts'
import { DEFAULT_CONFIGURATION } from '../../core/config/validate.ts'
import { barAt } from '../../core/market/bars.fixture.ts'
import type { FeedBar } from '../../core/market/bar.ts'
import { SETTLED_AT_ONCE_MAX } from '../../core/reputation/settle-calls.ts'
import type { JsonObject } from '../../core/shared/json.ts'
import type { FeedListener, FeedStart, MarketFeed } from '../../ports/market-feed.ts'
import type { Producer, ProducerRun } from '../../ports/producer.ts'
import { Engine } from '../engine.ts'
import { MarketRunner } from './market-runner.ts'
import { ProducerRunner } from './producer-runner.ts'

const BEGIN = timestampOf('2026-02-20T00:00:00.000Z')
const at = (minutes: number): Timestamp => timestampAt(Date.parse(BEGIN) + minutes * 60_000)

/** A feed whose bars the test sends. */
class RecordedBarsFeed implements MarketFeed {
  readonly name = 'recorded'
  producers: readonly Producer[] = []
  from: FeedStart | null = null
  listener: FeedListener | null = null
  readonly #past: readonly FeedBar[]

  constructor(past: readonly FeedBar[] = []) {
    this.#past = past
  }

  async start(from: FeedStart, listener: FeedListener): Promise<void> {
    this.from = from
    this.listener = listener
    for (const bar of this.#past) await listener.onBars([bar])
  }

  status() {
    return { state: 'running', lastBarAtMs: null, clockOffsetMs: null, error: null } as const
  }

  stop(): Promise<void> {
    return Promise.resolve()
  }

  async send(minute: number, close = 100): Promise<void> {
    nowMs = Date.parse(at(minute + 1))
    await this.listener?.onBars([barAt(at(minute), close)])
  }
}

let nowMs: number
let engine: Engine
const errors: string[] = []

beforeEach(async () => {
  nowMs = Date.parse(at(0))
  errors.length = 0
  engine = await Engine.open({
    log: new MemoryLog(),
    signer: testSigner(),
    clock: createSystemClock(() => nowMs),
    snapshotEveryEvents: 1000,
    onError: (what) => errors.push(what),
  })
})
afterEach(() => engine.close())

const rowsOf = (close: number): ProducerRun => ({
  status: 'ran',
  rows: [{ type: 'signal.ta.v1', payload: { symbol: 'BTC', rsi_14: close % 100 } }],
})
const producer = (run: Producer['run'], name = 'technical-analysis'): Producer => ({ name, run })
const runnerOf = (feed: MarketFeed, ...producers: readonly Producer[]): MarketRunner => {
  const clock = createSystemClock(() => nowMs)
  const onError = (what: string): void => void errors.push(what)
  const producerRunner = new ProducerRunner({ engine, clock, onError })
  const configuration = () => DEFAULT_CONFIGURATION
  return new MarketRunner({ engine, feed, producers, producerRunner, configuration, onError })
}
const stored = async (prefix: string): Promise<readonly string[]> =>
  (await engine.log.read({ order: 'asc', limit: 1000 }))
    .map(({ type }) => type)
    .filter((type) => type.startsWith(prefix))
/** Records calls of this many producers for a rising price within a day. */
const recordCalls = async (count: number): Promise<void> => {
  await appendTo(engine.log, count, (seq) => ({
    type: 'attribution.recorded.v1',
    recordedAt: at(1),
    payload: {
      signal_id: `s${seq}`,
      call_id: `c${seq}`,
      producer_id: `p${seq}`,
      contributor_id: null,
      node_id: null,
      received_at: at(1),
      symbol: 'BTC',
      direction: 'bullish',
      score: 8,
      probability: 0.9,
      horizon: '24h',
      due_at: at(24 * 60 + 1),
      ref_price: 100,
      ref_sigma: null,
    },
  }))
}
const verdicts = async (): Promise<readonly JsonObject[]> =>
  (await engine.log.read({ types: ['attribution.resolved'], order: 'asc', limit: 100_000 })).map(
    ({ payload }) => JSON.parse(payload) as JsonObject,
  )
const healthOf = (name: string) => engine.state.signals.producers.runs.get(name)

describe('the market runner', () => {
  it('stores bars and runs producers on their schedules, by the time of the bars', async () => {
    const looks: number[] = []
    const feed = new RecordedBarsFeed()
    await runnerOf(
      feed,
      producer(({ asOfMs }) => {
        looks.push(asOfMs)
        return rowsOf(asOfMs / 60_000)
      }),
    ).start()
    for (let minute = 0; minute < 32; minute += 1) await feed.send(minute)
    expect(looks.map((ms) => timestampAt(ms))).toEqual([at(1), at(15), at(30)])
    expect(await stored('market.bar')).toHaveLength(32)
    expect(await stored('signal.ta')).toHaveLength(3)
    expect(healthOf('technical-analysis')).toMatchObject({ health: 'ok', eventsProduced: 3 })
  })

  it('runs producers once on past bars, and does not trade on them', async () => {
    nowMs = Date.parse(at(30))
    const past = [barAt(at(0), 90, { resolution_s: 900, backfill: true })]
    await runnerOf(
      new RecordedBarsFeed(past),
      producer(() => rowsOf(1)),
    ).start()
    expect(await stored('')).toEqual([
      'market.bar.v1',
      'signal.ta.v1',
      'attribution.recorded.v1',
      'producer.run.v1',
    ])
    expect(engine.state.market.symbols.get(canonicalSymbol('BTC'))?.mark).toBeNull()
  })

  it('starts a feed behind the last stored bars', async () => {
    const first = new RecordedBarsFeed()
    await runnerOf(first).start()
    await first.send(0, 7)
    const second = new RecordedBarsFeed()
    await runnerOf(second).start()
    expect(first.from).toMatchObject({ segment: 1, symbols: DEFAULT_CONFIGURATION.universe.symbols })
    expect(second.from?.lastBars.get('BTC')).toMatchObject({ close: 7, close_ts: at(1) })
  })

  it('runs producers of a feed only after its first bars', async () => {
    const first = new RecordedBarsFeed()
    await runnerOf(first).start()
    await first.send(0)
    const looks: string[] = []
    const looking = (name: string): Producer =>
      producer(() => {
        looks.push(name)
        return { status: 'ran', rows: [] }
      }, name)
    const second = new RecordedBarsFeed()
    second.producers = [looking('onchain-flows')]
    await runnerOf(second, looking('technical-analysis')).start()
    expect(looks).toEqual(['technical-analysis'])
    const third = new RecordedBarsFeed([barAt(at(1), 100, { backfill: true })])
    third.producers = [looking('onchain-flows')]
    await runnerOf(third, looking('technical-analysis')).start()
    expect(looks.slice(1)).toEqual(['technical-analysis', 'onchain-flows'])
  })

  it('stores a signal once per interval', async () => {
    for (const rsi of [1, 2]) {
      const feed = new RecordedBarsFeed()
      await runnerOf(
        feed,
        producer(() => rowsOf(rsi)),
      ).start()
      await feed.send(rsi)
      await feed.send(rsi + 2)
    }
    expect(await stored('signal.ta')).toHaveLength(1)
    expect(errors).toEqual([])
  })

  it('lets calls run from the close of the bars that they are made of, unless these come much later', async () => {
    const feed = new RecordedBarsFeed()
    await runnerOf(
      feed,
      producer(() => rowsOf(10)),
    ).start()
    for (const [minute, lateMs] of [
      [14, 1500],
      [29, 61_000],
    ] as const) {
      nowMs = Date.parse(at(minute + 1)) + lateMs
      await feed.listener?.onBars([barAt(at(minute), 100)])
    }
    const attributed = await engine.log.read({ types: ['attribution.recorded'], order: 'asc', limit: 10 })
    const times = attributed.map(({ payload }) => (JSON.parse(payload) as JsonObject)['received_at'])
    expect(times).toEqual([at(15), timestampAt(Date.parse(at(30)) + 61_000)])
  })

  it('goes on when a producer throws, has no data or returns invalid rows', async () => {
    const feed = new RecordedBarsFeed()
    await runnerOf(
      feed,
      producer(() => {
        throw new Error('division by zero')
      }),
      producer(() => ({ status: 'degraded', reason: 'no depths' }), 'orderbook-depth'),
      producer(() => ({ status: 'ran', rows: [{ type: 'signal.curator.v1', payload: {} }] }), 'tradfi-basis'),
      producer(() => rowsOf(1), 'price-alerts'),
    ).start()
    await feed.send(29)
    expect(healthOf('technical-analysis')).toMatchObject({ health: 'error', lastError: 'division by zero' })
    expect(healthOf('orderbook-depth')).toMatchObject({ health: 'degraded', lastError: 'no depths' })
    expect(healthOf('tradfi-basis')).toMatchObject({ health: 'degraded', lastError: '1 rows were rejected' })
    expect(healthOf('price-alerts')).toMatchObject({ health: 'ok' })
  })

  it('keeps ticks out of the log and the state', async () => {
    const feed = new RecordedBarsFeed()
    await runnerOf(feed).start()
    await feed.send(0)
    const before = engine.state
    feed.listener?.onTick({ symbol: 'BTC', price: 123, atMs: nowMs })
    expect(engine.state).toBe(before)
    expect(await stored('')).toEqual(['market.bar.v1'])
  })

  it('settles all calls that a bar decides, in several batches', async () => {
    const feed = new RecordedBarsFeed()
    await runnerOf(feed).start()
    await feed.send(0)
    await recordCalls(2 * SETTLED_AT_ONCE_MAX + 1)
    await feed.send(24 * 60, 103)
    expect(engine.state.reputation.calls.open.size).toBe(0)
    const all = await verdicts()
    expect(all).toHaveLength(2 * SETTLED_AT_ONCE_MAX + 1)
    // The price and the odds are equal in every batch.
    const odds = all.map(({ hit, exit_price, base_rate }) => JSON.stringify([hit, exit_price, base_rate]))
    expect([...new Set(odds)]).toEqual(['[true,103,0.4]'])
  })

  it('settles after a start what a stop left open', async () => {
    const feed = new RecordedBarsFeed()
    await runnerOf(feed).start()
    await feed.send(0)
    await recordCalls(SETTLED_AT_ONCE_MAX + 1)
    nowMs = Date.parse(at(24 * 60 + 1))
    const bars = [barAt(at(24 * 60), 103)]
    await engine.execute({ kind: 'observe-bars', observation: { feed: 'recorded', bars } })
    expect(engine.state.reputation.calls.open.size).toBe(1)
    await runnerOf(new RecordedBarsFeed()).start()
    expect(engine.state.reputation.calls.open.size).toBe(0)
  })

  it('says when the bars of a time are stored and the producers that are due have run', async () => {
    const feed = new RecordedBarsFeed()
    const seen: string[] = []
    const runner = runnerOf(
      feed,
      producer(() => {
        seen.push(`${runner.arrivedBy(closeMs).bar} ${runner.arrivedBy(closeMs).late_producers.join()}`)
        return rowsOf(1)
      }),
      producer(() => ({ status: 'ran', rows: [] }), 'price-alerts'),
    )
    await runner.start()
    await feed.send(13)
    const closeMs = Date.parse(at(15))
    let isThere = false
    const arrived = runner.arrived(closeMs).then(() => {
      isThere = true
    })
    const both = ['technical-analysis', 'price-alerts']
    expect(runner.arrivedBy(closeMs)).toEqual({ bar: 'late', producers: [], late_producers: both })
    await feed.send(14)
    await arrived
    expect(isThere).toBe(true)
    expect(seen.at(-1)).toBe('stored technical-analysis,price-alerts')
    expect(runner.arrivedBy(closeMs)).toEqual({ bar: 'stored', producers: both, late_producers: [] })
    await runner.arrived(closeMs)
    // No bar closes at that time.
    await runner.arrived(closeMs + 30_000)
    expect(runner.arrivedBy(closeMs + 30_000)).toMatchObject({ bar: 'none' })
  })

  it('waits for every symbol that had the bar before, and for no other', async () => {
    const feed = new RecordedBarsFeed()
    const runner = runnerOf(feed)
    await runner.start()
    const take = (minute: number, symbol: string) => {
      nowMs = Date.parse(at(minute + 1))
      return feed.listener?.onBars([barAt(at(minute), 100, { symbol })])
    }
    await take(0, 'SOL')
    for (const symbol of ['BTC', 'ETH']) await take(4, symbol)
    let isThere = false
    const arrived = runner.arrived(Date.parse(at(6))).then(() => {
      isThere = true
    })
    await take(5, 'BTC')
    await new Promise(setImmediate)
    expect([isThere, runner.arrivedBy(Date.parse(at(6))).bar]).toEqual([false, 'late'])
    await take(5, 'ETH')
    await arrived
    expect(runner.arrivedBy(Date.parse(at(6))).bar).toBe('stored')
  })

  it('waits for nothing from a feed that has ended', async () => {
    const feed = Object.assign(new RecordedBarsFeed(), {
      status: () => ({ state: 'ended', lastBarAtMs: null, clockOffsetMs: null, error: null }) as const,
    })
    const runner = runnerOf(
      feed,
      producer(() => rowsOf(1)),
    )
    await runner.start()
    await runner.arrived(Date.parse(at(15)))
    expect(runner.arrivedBy(Date.parse(at(15)))).toEqual({ bar: 'none', producers: [], late_producers: [] })
  })

  it('reports errors of the feed and goes on', async () => {
    const feed = new RecordedBarsFeed()
    await runnerOf(feed).start()
    feed.listener?.onError('the socket is silent')
    expect(errors).toEqual(['feed recorded: the socket is silent'])
    await feed.send(0)
    await feed.send(0)
    expect(await stored('')).toEqual(['market.bar.v1', 'system.audit.v1'])
  })
})
