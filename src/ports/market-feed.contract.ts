import { priceFrom } from '../core/shared/money.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { CATALOGUE } from '../core/events/catalogue.ts'
import { BUILTIN_PRODUCERS, signalTypeOf } from '../core/signal-types/all.ts'
import { barFaultOf, type FeedBar } from '../core/market/bar.ts'
import type { MarketView } from '../core/market/readings.ts'
import { settle } from './manual-timer.fixture.ts'
import type { FeedListener, FeedStart, MarketFeed, Tick } from './market-feed.ts'

/** A feed that is not started yet, and its clock. */
export interface FeedFixture {
  /** Has at least twenty bars each of BTC and ETH, and the same history when it is opened again. */
  readonly feed: MarketFeed
  nowMs(): number
  /** Advances time. After a few calls the next bar has closed. */
  pass(): Promise<void>
  /** Called after the feed has stopped. */
  close(): Promise<void>
}

/** Contract of every feed. Each adapter runs it. */
export const marketFeedContract = (name: string, open: () => Promise<FeedFixture>): void => {
  const fixtures: FeedFixture[] = []
  const openFixture = async (): Promise<FeedFixture> => {
    const fixture = await open()
    fixtures.push(fixture)
    return fixture
  }
  afterEach(async () => {
    for (const fixture of fixtures.splice(0)) {
      await fixture.feed.stop()
      await fixture.close()
    }
  })

  describe(`${name} delivers bars`, () => {
    it('that are valid, closed, in order, each time and symbol once', async () => {
      const fixture = await openFixture()
      const recorded = recorder()
      await fixture.feed.start(FROM_NOTHING, recorded.listener)
      await untilBars(fixture, recorded, 10)
      const last = new Map<string, FeedBar>()
      for (const bars of recorded.calls) {
        expect(bars.length).toBeGreaterThan(0)
        expect(new Set(bars.map(({ close_ts }) => close_ts)).size).toBe(1)
        for (const bar of bars) {
          expect(SYMBOLS).toContain(bar.symbol)
          expect(barFaultOf(bar, last.get(bar.symbol) ?? null, fixture.nowMs())).toBeNull()
          expect(() => CATALOGUE['market.bar.v1'].parse({ ...bar, feed: fixture.feed.name })).not.toThrow()
          last.set(bar.symbol, bar)
        }
      }
      expect([...last.keys()].sort()).toEqual([...SYMBOLS].sort())
    })

    it('in the spelling of the universe, and of no other symbol', async () => {
      const fixture = await openFixture()
      const recorded = recorder()
      await fixture.feed.start({ ...FROM_NOTHING, symbols: ['eth/usdt'] }, recorded.listener)
      await untilBars(fixture, recorded, 3)
      expect(new Set(recorded.bars().map(({ symbol }) => symbol))).toEqual(new Set(['eth/usdt']))
    })

    it('one call after the other, each after the last is stored', async () => {
      const fixture = await openFixture()
      let pending = 0
      let pendingMax = 0
      const recorded = recorder(async () => {
        pending += 1
        pendingMax = Math.max(pendingMax, pending)
        await fixture.pass()
        await settle()
        pending -= 1
      })
      // Time may have to pass for the start, too.
      const started = fixture.feed.start(FROM_NOTHING, recorded.listener)
      await untilBars(fixture, recorded, 5)
      await fixture.feed.stop()
      await started
      expect(pendingMax).toBe(1)
    })

    it('again when they could not be stored, and reports it', async () => {
      const fixture = await openFixture()
      let failures = 2
      const recorded = recorder(async () => {
        failures -= 1
        if (failures >= 0) throw new Error('the disk is full')
      })
      const started = fixture.feed.start(FROM_NOTHING, recorded.listener)
      await untilBars(fixture, recorded, 5)
      await started
      expect(recorded.calls[1]?.map(placeOf)).toEqual(recorded.calls[0]?.map(placeOf))
      expect(recorded.calls[2]?.map(placeOf)).toEqual(recorded.calls[0]?.map(placeOf))
      expect(recorded.errors.join()).toContain('the disk is full')
      expect(fixture.feed.status()).toMatchObject({ state: 'running', error: null })
    })

    it('after the stored ones', async () => {
      const first = await openFixture()
      const before = recorder()
      await first.feed.start(FROM_NOTHING, before.listener)
      await untilBars(first, before, 4)
      await first.feed.stop()
      const lastBars = new Map(before.bars().map((bar) => [bar.symbol, bar]))

      const second = await openFixture()
      const after = recorder()
      await second.feed.start({ symbols: SYMBOLS, segment: 2, lastBars }, after.listener)
      await untilBars(second, after, 2)
      for (const bar of after.bars()) {
        expect(bar.open_ts >= (lastBars.get(bar.symbol)?.close_ts ?? '')).toBe(true)
      }
    })
  })

  describe(`${name} has a status`, () => {
    it('from idle to running to stopped', async () => {
      const fixture = await openFixture()
      const recorded = recorder()
      expect(fixture.feed.status()).toMatchObject({ state: 'idle', lastBarAtMs: null, error: null })
      await fixture.feed.start(FROM_NOTHING, recorded.listener)
      expect(fixture.feed.status().state).toBe('running')
      await untilBars(fixture, recorded, 2)
      await fixture.feed.stop()
      const { state, lastBarAtMs } = fixture.feed.status()
      expect(state).toBe('stopped')
      expect(lastBarAtMs).toBe(Date.parse(recorded.calls.at(-1)?.[0]?.close_ts ?? ''))
    })

    it('with ticks of the universe, if any', async () => {
      const fixture = await openFixture()
      const recorded = recorder()
      await fixture.feed.start(FROM_NOTHING, recorded.listener)
      await untilBars(fixture, recorded, 6)
      for (const { symbol, price, atMs } of recorded.ticks) {
        expect(SYMBOLS).toContain(symbol)
        expect(price).toBeGreaterThan(0)
        expect(Number.isFinite(atMs)).toBe(true)
      }
    })
  })

  describe(`${name} stops`, () => {
    it('and delivers nothing afterwards', async () => {
      const fixture = await openFixture()
      const recorded = recorder()
      await fixture.feed.start(FROM_NOTHING, recorded.listener)
      await untilBars(fixture, recorded, 2)
      await fixture.feed.stop()
      const before = recorded.count()
      for (let turn = 0; turn < 10; turn += 1) await fixture.pass()
      await settle()
      expect(recorded.count()).toBe(before)
    })

    it('after the bars in progress are stored', async () => {
      const fixture = await openFixture()
      let release = (): void => undefined
      let stored = false
      const recorded = recorder(async () => {
        await new Promise<void>((resolve) => {
          release = resolve
        })
        stored = true
      })
      const started = fixture.feed.start(FROM_NOTHING, recorded.listener)
      await eventually(fixture, () => recorded.calls.length === 1)
      const stopped = fixture.feed.stop().then(() => stored)
      await settle()
      release()
      expect(await stopped).toBe(true)
      await started
      expect(recorded.calls).toHaveLength(1)
    })

    it('also before it was started, and twice', async () => {
      const fixture = await openFixture()
      await fixture.feed.stop()
      await fixture.feed.stop()
      expect(fixture.feed.status().state).toBe('stopped')
    })
  })

  it(`${name} is started once`, async () => {
    const fixture = await openFixture()
    const recorded = recorder()
    await fixture.feed.start(FROM_NOTHING, recorded.listener)
    await expect(fixture.feed.start(FROM_NOTHING, recorded.listener)).rejects.toThrow('already started')
    await fixture.feed.stop()
    await expect(fixture.feed.start(FROM_NOTHING, recorded.listener)).rejects.toThrow('already started')
  })

  it(`${name} has known producers with valid signals`, async () => {
    const fixture = await openFixture()
    const recorded = recorder()
    const names = fixture.feed.producers.map((producer) => producer.name)
    expect(names).toEqual([...new Set(names)])
    for (const producer of fixture.feed.producers) expect(producer.run(EMPTY_VIEW).status).toBe('degraded')
    await fixture.feed.start(FROM_NOTHING, recorded.listener)
    await untilBars(fixture, recorded, 2)
    const view = viewOf(recorded.bars())
    for (const producer of fixture.feed.producers) {
      expect(Object.keys(BUILTIN_PRODUCERS)).toContain(producer.name)
      const run = producer.run(view)
      expect(producer.run(view)).toEqual(run)
      for (const { type, payload } of run.status === 'ran' ? run.rows : []) {
        expect(signalTypeOf(type)?.domain).toBe(BUILTIN_PRODUCERS[producer.name]?.domain)
        expect(() => signalTypeOf(type)?.payload.parse(payload)).not.toThrow()
      }
    }
  })
}

const SYMBOLS = ['BTC', 'ETH'] as const
const FROM_NOTHING: FeedStart = { symbols: SYMBOLS, segment: 1, lastBars: new Map() }
const EMPTY_VIEW: MarketView = { asOfMs: 0, analysisBarSeconds: 900, symbols: [] }
const TURNS_MAX = 2000

interface Recorder {
  readonly listener: FeedListener
  readonly calls: (readonly FeedBar[])[]
  readonly ticks: Tick[]
  readonly errors: string[]
  bars(): readonly FeedBar[]
  count(): number
}

/** Records what the feed delivers. */
const recorder = (store: () => Promise<void> = async () => undefined): Recorder => {
  const calls: (readonly FeedBar[])[] = []
  const ticks: Tick[] = []
  const errors: string[] = []
  const listener: FeedListener = {
    onBars: (bars) => {
      calls.push(bars)
      return store()
    },
    onTick: (tick) => ticks.push(tick),
    onError: (message) => errors.push(message),
  }
  const count = (): number => calls.length + ticks.length + errors.length
  return { listener, calls, ticks, errors, bars: () => calls.flat(), count }
}

const untilBars = (fixture: FeedFixture, recorded: Recorder, calls: number): Promise<void> =>
  eventually(fixture, () => recorded.calls.length >= calls)

const eventually = async (fixture: FeedFixture, isReached: () => boolean): Promise<void> => {
  for (let turn = 0; turn < TURNS_MAX; turn += 1) {
    if (isReached()) {
      // Gives the feed time to notice that the last bars are stored.
      await settle()
      return
    }
    await fixture.pass()
    await settle()
  }
  throw new Error('the feed did not reach the expected state')
}

const placeOf = ({ symbol, open_ts }: FeedBar): string => `${symbol} ${open_ts}`

const viewOf = (bars: readonly FeedBar[]): MarketView => ({
  asOfMs: Math.max(...bars.map(({ close_ts }) => Date.parse(close_ts))),
  analysisBarSeconds: 900,
  symbols: SYMBOLS.map((symbol) => ({
    symbol,
    analysisBars: [],
    variance: null,
    close: priceFrom(bars.findLast((bar) => bar.symbol === symbol)?.close ?? 1),
    return1h: null,
    return24h: null,
    volume24hUsd: null,
    fundingAnnualized: null,
    basisAnnualized: null,
    openInterestUsd: null,
    openInterestChangePct: null,
    bidDepthUsd: null,
    askDepthUsd: null,
    fearGreed: null,
    fearGreedChange7d: null,
  })),
})
