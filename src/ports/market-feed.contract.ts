import { afterEach, describe, expect, it } from 'vitest'
import { CATALOGUE } from '../core/events/catalogue.ts'
import { BUILTIN_PRODUCERS, signalTypeOf } from '../core/signal-types/all.ts'
import { barFaultOf, type FeedBar } from '../core/market/bar.ts'
import type { MarketView } from '../core/market/readings.ts'
import { settle } from './manual-timer.fixture.ts'
import type { FeedListener, FeedStart, MarketFeed, Tick } from './market-feed.ts'

/** A feed that is not started yet, and the time it lives in. */
export interface FeedStage {
  /** Has at least twenty bars of BTC and of ETH to tell, and tells the same past when it is opened again. */
  readonly feed: MarketFeed
  nowMs(): number
  /** Lets time pass: after a few calls the next bar has closed. */
  pass(): Promise<void>
  /** After the feed has stopped. */
  close(): Promise<void>
}

/** What every feed does. Each adapter runs this. */
export const marketFeedContract = (name: string, open: () => Promise<FeedStage>): void => {
  const stages: FeedStage[] = []
  const stageOf = async (): Promise<FeedStage> => {
    const stage = await open()
    stages.push(stage)
    return stage
  }
  afterEach(async () => {
    for (const stage of stages.splice(0)) {
      await stage.feed.stop()
      await stage.close()
    }
  })

  describe(`${name} tells bars`, () => {
    it('that are sound, closed, in order, each time and symbol once', async () => {
      const stage = await stageOf()
      const heard = recorder()
      await stage.feed.start(FROM_NOTHING, heard.listener)
      await untilTold(stage, heard, 10)
      const last = new Map<string, FeedBar>()
      for (const bars of heard.calls) {
        expect(bars.length).toBeGreaterThan(0)
        expect(new Set(bars.map(({ close_ts }) => close_ts)).size).toBe(1)
        for (const bar of bars) {
          expect(SYMBOLS).toContain(bar.symbol)
          expect(barFaultOf(bar, last.get(bar.symbol) ?? null, stage.nowMs())).toBeNull()
          expect(() => CATALOGUE['market.bar.v1'].parse({ ...bar, feed: stage.feed.name })).not.toThrow()
          last.set(bar.symbol, bar)
        }
      }
      expect([...last.keys()].sort()).toEqual([...SYMBOLS].sort())
    })

    it('in the spelling of the universe, and of no other symbol', async () => {
      const stage = await stageOf()
      const heard = recorder()
      await stage.feed.start({ ...FROM_NOTHING, symbols: ['eth/usdt'] }, heard.listener)
      await untilTold(stage, heard, 3)
      expect(new Set(heard.bars().map(({ symbol }) => symbol))).toEqual(new Set(['eth/usdt']))
    })

    it('one call after the other, waiting until each is stored', async () => {
      const stage = await stageOf()
      let pending = 0
      let pendingMax = 0
      const heard = recorder(async () => {
        pending += 1
        pendingMax = Math.max(pendingMax, pending)
        await stage.pass()
        await settle()
        pending -= 1
      })
      // What a feed tells while it starts may need time to pass as well.
      const started = stage.feed.start(FROM_NOTHING, heard.listener)
      await untilTold(stage, heard, 5)
      await stage.feed.stop()
      await started
      expect(pendingMax).toBe(1)
    })

    it('again when they could not be stored, and says so', async () => {
      const stage = await stageOf()
      let failures = 2
      const heard = recorder(async () => {
        failures -= 1
        if (failures >= 0) throw new Error('the disk is full')
      })
      const started = stage.feed.start(FROM_NOTHING, heard.listener)
      await untilTold(stage, heard, 5)
      await started
      expect(heard.calls[1]?.map(placeOf)).toEqual(heard.calls[0]?.map(placeOf))
      expect(heard.calls[2]?.map(placeOf)).toEqual(heard.calls[0]?.map(placeOf))
      expect(heard.troubles.join()).toContain('the disk is full')
      expect(stage.feed.status()).toMatchObject({ state: 'running', trouble: null })
    })

    it('from where the stored ones end', async () => {
      const first = await stageOf()
      const before = recorder()
      await first.feed.start(FROM_NOTHING, before.listener)
      await untilTold(first, before, 4)
      await first.feed.stop()
      const lastBars = new Map(before.bars().map((bar) => [bar.symbol, bar]))

      const second = await stageOf()
      const after = recorder()
      await second.feed.start({ symbols: SYMBOLS, segment: 2, lastBars }, after.listener)
      await untilTold(second, after, 2)
      for (const bar of after.bars()) {
        expect(bar.open_ts >= (lastBars.get(bar.symbol)?.close_ts ?? '')).toBe(true)
      }
    })
  })

  describe(`${name} says how it is`, () => {
    it('from idle over running to stopped', async () => {
      const stage = await stageOf()
      const heard = recorder()
      expect(stage.feed.status()).toMatchObject({ state: 'idle', lastBarAtMs: null, trouble: null })
      await stage.feed.start(FROM_NOTHING, heard.listener)
      expect(stage.feed.status().state).toBe('running')
      await untilTold(stage, heard, 2)
      await stage.feed.stop()
      const { state, lastBarAtMs } = stage.feed.status()
      expect(state).toBe('stopped')
      expect(lastBarAtMs).toBe(Date.parse(heard.calls.at(-1)?.[0]?.close_ts ?? ''))
    })

    it('with ticks of the universe, if any', async () => {
      const stage = await stageOf()
      const heard = recorder()
      await stage.feed.start(FROM_NOTHING, heard.listener)
      await untilTold(stage, heard, 6)
      for (const { symbol, price, atMs } of heard.ticks) {
        expect(SYMBOLS).toContain(symbol)
        expect(price).toBeGreaterThan(0)
        expect(Number.isFinite(atMs)).toBe(true)
      }
    })
  })

  describe(`${name} stops`, () => {
    it('and tells nothing afterwards', async () => {
      const stage = await stageOf()
      const heard = recorder()
      await stage.feed.start(FROM_NOTHING, heard.listener)
      await untilTold(stage, heard, 2)
      await stage.feed.stop()
      const told = heard.count()
      for (let turn = 0; turn < 10; turn += 1) await stage.pass()
      await settle()
      expect(heard.count()).toBe(told)
    })

    it('after what is being stored is stored', async () => {
      const stage = await stageOf()
      let release = (): void => undefined
      let stored = false
      const heard = recorder(async () => {
        await new Promise<void>((resolve) => {
          release = resolve
        })
        stored = true
      })
      const started = stage.feed.start(FROM_NOTHING, heard.listener)
      await eventually(stage, () => heard.calls.length === 1)
      const stopped = stage.feed.stop().then(() => stored)
      await settle()
      release()
      expect(await stopped).toBe(true)
      await started
      expect(heard.calls).toHaveLength(1)
    })

    it('also before it was started, and twice', async () => {
      const stage = await stageOf()
      await stage.feed.stop()
      await stage.feed.stop()
      expect(stage.feed.status().state).toBe('stopped')
    })
  })

  it(`${name} is started once`, async () => {
    const stage = await stageOf()
    const heard = recorder()
    await stage.feed.start(FROM_NOTHING, heard.listener)
    await expect(stage.feed.start(FROM_NOTHING, heard.listener)).rejects.toThrow('once')
    await stage.feed.stop()
    await expect(stage.feed.start(FROM_NOTHING, heard.listener)).rejects.toThrow('once')
  })

  it(`${name} brings producers that are known, and signals that are valid`, async () => {
    const stage = await stageOf()
    const heard = recorder()
    const names = stage.feed.producers.map((producer) => producer.name)
    expect(names).toEqual([...new Set(names)])
    for (const producer of stage.feed.producers) expect(producer.run(EMPTY_VIEW).status).toBe('degraded')
    await stage.feed.start(FROM_NOTHING, heard.listener)
    await untilTold(stage, heard, 2)
    const view = viewOf(heard.bars())
    for (const producer of stage.feed.producers) {
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
  readonly troubles: string[]
  bars(): readonly FeedBar[]
  count(): number
}

/** Remembers what it is told. */
const recorder = (store: () => Promise<void> = async () => undefined): Recorder => {
  const calls: (readonly FeedBar[])[] = []
  const ticks: Tick[] = []
  const troubles: string[] = []
  const listener: FeedListener = {
    onBars: (bars) => {
      calls.push(bars)
      return store()
    },
    onTick: (tick) => ticks.push(tick),
    onError: (message) => troubles.push(message),
  }
  const count = (): number => calls.length + ticks.length + troubles.length
  return { listener, calls, ticks, troubles, bars: () => calls.flat(), count }
}

const untilTold = (stage: FeedStage, heard: Recorder, calls: number): Promise<void> =>
  eventually(stage, () => heard.calls.length >= calls)

const eventually = async (stage: FeedStage, isReached: () => boolean): Promise<void> => {
  for (let turn = 0; turn < TURNS_MAX; turn += 1) {
    if (isReached()) {
      // Lets the feed hear that the last bars are stored.
      await settle()
      return
    }
    await stage.pass()
    await settle()
  }
  throw new Error('the feed did not get there')
}

const placeOf = ({ symbol, open_ts }: FeedBar): string => `${symbol} ${open_ts}`

const viewOf = (bars: readonly FeedBar[]): MarketView => ({
  asOfMs: Math.max(...bars.map(({ close_ts }) => Date.parse(close_ts))),
  analysisBarSeconds: 900,
  symbols: SYMBOLS.map((symbol) => ({
    symbol,
    analysisBars: [],
    variance: null,
    close: bars.findLast((bar) => bar.symbol === symbol)?.close ?? 1,
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
