import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testSigner } from '../../../test/parts.ts'
import { appendTo } from '../../../test/records.ts'
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

const BEGIN = '2026-02-20T00:00:00.000Z'
const at = (minutes: number): string => new Date(Date.parse(BEGIN) + minutes * 60_000).toISOString()

/** A feed whose bars the test tells. */
class RecordedBarsFeed implements MarketFeed {
  readonly name = 'told'
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
    return { state: 'running', lastBarAtMs: null, clockOffsetMs: null, trouble: null } as const
  }

  stop(): Promise<void> {
    return Promise.resolve()
  }

  async tell(minute: number, close = 100): Promise<void> {
    nowMs = Date.parse(at(minute + 1))
    await this.listener?.onBars([barAt(at(minute), close)])
  }
}

let nowMs: number
let engine: Engine
const troubles: string[] = []

beforeEach(async () => {
  nowMs = Date.parse(at(0))
  troubles.length = 0
  engine = await Engine.open({
    log: new MemoryLog(),
    signer: testSigner(),
    clock: createSystemClock(() => nowMs),
    snapshotEveryEvents: 1000,
    onError: (what) => troubles.push(what),
  })
})
afterEach(() => engine.close())

const rowsOf = (close: number): ProducerRun => ({
  status: 'ran',
  rows: [{ type: 'signal.ta.v1', payload: { symbol: 'BTC', rsi_14: close % 100 } }],
})
const producer = (run: Producer['run'], name = 'technical-analysis'): Producer => ({ name, run })
const deskOf = (feed: MarketFeed, ...producers: readonly Producer[]): MarketRunner => {
  const clock = createSystemClock(() => nowMs)
  const onError = (what: string): void => void troubles.push(what)
  const producerDesk = new ProducerRunner({ engine, clock, onError })
  const configuration = () => DEFAULT_CONFIGURATION
  return new MarketRunner({ engine, feed, producers, producerDesk, configuration, onError })
}
const stored = async (prefix: string): Promise<readonly string[]> =>
  (await engine.log.read({ order: 'asc', limit: 1000 }))
    .map(({ type }) => type)
    .filter((type) => type.startsWith(prefix))
/** So many producers expect the price to rise within a day. */
const foretell = async (count: number): Promise<void> => {
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

describe('a market desk', () => {
  it('stores bars and lets producers look when their time has come, on the time of the bars', async () => {
    const looks: number[] = []
    const feed = new RecordedBarsFeed()
    await deskOf(
      feed,
      producer(({ asOfMs }) => {
        looks.push(asOfMs)
        return rowsOf(asOfMs / 60_000)
      }),
    ).start()
    for (let minute = 0; minute < 32; minute += 1) await feed.tell(minute)
    expect(looks.map((ms) => new Date(ms).toISOString())).toEqual([at(1), at(15), at(30)])
    expect(await stored('market.bar')).toHaveLength(32)
    expect(await stored('signal.ta')).toHaveLength(3)
    expect(healthOf('technical-analysis')).toMatchObject({ health: 'ok', eventsProduced: 3 })
  })

  it('lets everybody look at the past once it is there, and trades on none of it', async () => {
    nowMs = Date.parse(at(30))
    const past = [barAt(at(0), 90, { resolution_s: 900, backfill: true })]
    await deskOf(
      new RecordedBarsFeed(past),
      producer(() => rowsOf(1)),
    ).start()
    expect(await stored('')).toEqual([
      'market.bar.v1',
      'signal.ta.v1',
      'attribution.recorded.v1',
      'producer.run.v1',
    ])
    expect(engine.state.market.symbols.get('BTC')?.mark).toBeNull()
  })

  it('tells a feed where to go on', async () => {
    const first = new RecordedBarsFeed()
    await deskOf(first).start()
    await first.tell(0, 7)
    const second = new RecordedBarsFeed()
    await deskOf(second).start()
    expect(first.from).toMatchObject({ segment: 1, symbols: DEFAULT_CONFIGURATION.universe.symbols })
    expect(second.from?.lastBars.get('BTC')).toMatchObject({ close: 7, close_ts: at(1) })
  })

  it('asks producers of a feed only when the feed has begun', async () => {
    const first = new RecordedBarsFeed()
    await deskOf(first).start()
    await first.tell(0)
    const looks: string[] = []
    const looking = (name: string): Producer =>
      producer(() => {
        looks.push(name)
        return { status: 'ran', rows: [] }
      }, name)
    const second = new RecordedBarsFeed()
    second.producers = [looking('onchain-flows')]
    await deskOf(second, looking('technical-analysis')).start()
    expect(looks).toEqual(['technical-analysis'])
    const third = new RecordedBarsFeed([barAt(at(1), 100, { backfill: true })])
    third.producers = [looking('onchain-flows')]
    await deskOf(third, looking('technical-analysis')).start()
    expect(looks.slice(1)).toEqual(['technical-analysis', 'onchain-flows'])
  })

  it('says nothing twice in one interval', async () => {
    for (const rsi of [1, 2]) {
      const feed = new RecordedBarsFeed()
      await deskOf(
        feed,
        producer(() => rowsOf(rsi)),
      ).start()
      await feed.tell(rsi)
      await feed.tell(rsi + 2)
    }
    expect(await stored('signal.ta')).toHaveLength(1)
    expect(troubles).toEqual([])
  })

  it('gets over a producer that breaks, has nothing to say or lies', async () => {
    const feed = new RecordedBarsFeed()
    await deskOf(
      feed,
      producer(() => {
        throw new Error('division by zero')
      }),
      producer(() => ({ status: 'degraded', reason: 'no depths' }), 'orderbook-depth'),
      producer(() => ({ status: 'ran', rows: [{ type: 'signal.curator.v1', payload: {} }] }), 'tradfi-basis'),
      producer(() => rowsOf(1), 'price-alerts'),
    ).start()
    await feed.tell(29)
    expect(healthOf('technical-analysis')).toMatchObject({ health: 'error', lastError: 'division by zero' })
    expect(healthOf('orderbook-depth')).toMatchObject({ health: 'degraded', lastError: 'no depths' })
    expect(healthOf('tradfi-basis')).toMatchObject({ health: 'degraded', lastError: '1 rows were rejected' })
    expect(healthOf('price-alerts')).toMatchObject({ health: 'ok' })
  })

  it('keeps ticks out of the log and the state', async () => {
    const feed = new RecordedBarsFeed()
    await deskOf(feed).start()
    await feed.tell(0)
    const before = engine.state
    feed.listener?.onTick({ symbol: 'BTC', price: 123, atMs: nowMs })
    expect(engine.state).toBe(before)
    expect(await stored('')).toEqual(['market.bar.v1'])
  })

  it('lets a bar judge all calls that it decides, in as many batches as it takes', async () => {
    const feed = new RecordedBarsFeed()
    await deskOf(feed).start()
    await feed.tell(0)
    await foretell(2 * SETTLED_AT_ONCE_MAX + 1)
    await feed.tell(24 * 60, 103)
    expect(engine.state.reputation.calls.open.size).toBe(0)
    const all = await verdicts()
    expect(all).toHaveLength(2 * SETTLED_AT_ONCE_MAX + 1)
    // The same price and the same odds for all, whenever their turn came.
    const odds = all.map(({ hit, exit_price, base_rate }) => JSON.stringify([hit, exit_price, base_rate]))
    expect([...new Set(odds)]).toEqual(['[true,103,0.4]'])
  })

  it('lets a bar judge what a stop came between', async () => {
    const feed = new RecordedBarsFeed()
    await deskOf(feed).start()
    await feed.tell(0)
    await foretell(SETTLED_AT_ONCE_MAX + 1)
    nowMs = Date.parse(at(24 * 60 + 1))
    const bars = [barAt(at(24 * 60), 103)]
    await engine.execute({ kind: 'observe-bars', observation: { feed: 'told', bars } })
    expect(engine.state.reputation.calls.open.size).toBe(1)
    await deskOf(new RecordedBarsFeed()).start()
    expect(engine.state.reputation.calls.open.size).toBe(0)
  })

  it('tells of trouble and goes on', async () => {
    const feed = new RecordedBarsFeed()
    await deskOf(feed).start()
    feed.listener?.onError('the socket is silent')
    expect(troubles).toEqual(['feed told: the socket is silent'])
    await feed.tell(0)
    await feed.tell(0)
    expect(await stored('')).toEqual(['market.bar.v1', 'system.audit.v1'])
  })
})
