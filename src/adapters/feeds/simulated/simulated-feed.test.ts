import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { FeedBar } from '../../../core/market/bar.ts'
import type { MarketView } from '../../../core/market/readings.ts'
import { createManualTimer, settle } from '../../../ports/manual-timer.fixture.ts'
import { marketFeedContract } from '../../../ports/market-feed.contract.ts'
import type { FeedStart, Tick } from '../../../ports/market-feed.ts'
import { settingsOf, sha256Hex } from './path.fixture.ts'
import type { MarketSettings } from './path.ts'
import { CATCH_UP_BARS_MAX, catchUpFrom, createSimulatedFeed, planStart } from './simulated-feed.ts'

const START_MS = Date.parse('2026-02-20T12:34:56.789Z')
const MINUTE_MS = 60_000

marketFeedContract('the simulated feed', async () => {
  const timer = createManualTimer(START_MS)
  return {
    feed: createSimulatedFeed({ settings: settingsOf({ warmup_hours: 1 }), timer, sha256Hex }),
    nowMs: () => timer.now(),
    pass: () => timer.advance(10_000),
    close: async () => undefined,
  }
})

/** A feed that runs by hand, and what it delivered. */
const begin = async (changes: Partial<MarketSettings> = {}, from: Partial<FeedStart> = {}) => {
  const timer = createManualTimer(START_MS)
  const feed = createSimulatedFeed({ settings: settingsOf(changes), timer, sha256Hex })
  const calls: (readonly FeedBar[])[] = []
  const ticks: Tick[] = []
  const errors: string[] = []
  await feed.start(
    { symbols: ['BTC', 'ETH'], segment: 1, lastBars: new Map(), ...from },
    {
      onBars: async (bars) => {
        calls.push(bars)
      },
      onTick: (tick) => ticks.push(tick),
      onError: (message) => errors.push(message),
    },
  )
  return { timer, feed, calls, ticks, errors }
}

const openTimes = (calls: readonly (readonly FeedBar[])[]) => calls.map(([bar]) => bar?.open_ts)

describe('in real time', () => {
  it('delivers a tick of every symbol per step, and bars aligned in UTC', async () => {
    const { timer, feed, calls, ticks } = await begin()
    // 12:34:56.789: the step that ended at :55 is the newest one.
    await settle()
    expect(ticks.map(({ atMs }) => new Date(atMs).toISOString())).toEqual(
      Array.from({ length: 2 }, () => '2026-02-20T12:34:55.000Z'),
    )
    await timer.advance(3211)
    expect(openTimes(calls)).toEqual(['2026-02-20T12:34:00.000Z'])
    expect(ticks.slice(2)).toEqual([
      { symbol: 'BTC', price: calls[0]?.[0]?.close, atMs: Date.parse('2026-02-20T12:35:00.000Z') },
      { symbol: 'ETH', price: calls[0]?.[1]?.close, atMs: Date.parse('2026-02-20T12:35:00.000Z') },
    ])
    await timer.advance(2 * MINUTE_MS)
    expect(ticks).toHaveLength(2 + 2 + 48)
    expect(openTimes(calls).slice(1)).toEqual(['2026-02-20T12:35:00.000Z', '2026-02-20T12:36:00.000Z'])
    expect(calls.flat().every(({ backfill }) => !backfill)).toBe(true)
    await feed.stop()
  })

  it('gives the golden first bar', async () => {
    const { timer, feed, calls } = await begin()
    await timer.advance(3211)
    expect(calls[0]?.[0]).toMatchObject({ open: 60_000, high: 60_019.89, low: 59_987.45, close: 60_019.89 })
    await feed.stop()
  })

  it('shows producers the market of the time that they look at, also when the next bar has closed', async () => {
    const closeMs = Date.parse('2026-02-20T12:35:00.000Z')
    const runsAfter = async (ms: number) => {
      const { timer, feed } = await begin()
      await timer.advance(ms)
      const view = { asOfMs: closeMs, symbols: [{ symbol: 'BTC' }] } as unknown as MarketView
      const runs = feed.producers.map((producer) => producer.run(view))
      await feed.stop()
      return runs
    }
    const atOnce = await runsAfter(3211)
    expect(atOnce.every(({ status }) => status === 'ran')).toBe(true)
    expect(await runsAfter(3211 + MINUTE_MS)).toEqual(atOnce)
  })

  it('makes flat bars where no step ends', async () => {
    const { timer, feed, calls } = await begin({ tick_seconds: 150 })
    await timer.advance(5 * MINUTE_MS)
    const btc = calls.map(([bar]) => bar)
    expect(btc.map((bar) => bar?.volume === 0)).toEqual([true, true, false, true, false])
    expect(btc.map((bar) => bar?.open).slice(1)).toEqual(btc.map((bar) => bar?.close).slice(0, -1))
    await feed.stop()
  })
})

describe('on an empty store', () => {
  it('delivers its history: quarters of an hour, then bars up to now, all as backfill', async () => {
    const { feed, calls } = await begin({ warmup_hours: 2 })
    const past = calls.map(([bar]) => `${bar?.resolution_s} ${bar?.open_ts.slice(11, 16)}`)
    expect(past).toEqual([
      '900 10:30', '900 10:45', '900 11:00', '900 11:15', '900 11:30', '900 11:45', '900 12:00', '900 12:15',
      '60 12:30', '60 12:31', '60 12:32', '60 12:33',
    ]) // prettier-ignore
    expect(calls.flat().every(({ backfill }) => backfill)).toBe(true)
    expect(calls[0]?.[0]?.open).toBe(60_000)
    await feed.stop()
  })

  it('can be stopped in the middle of its past', async () => {
    const timer = createManualTimer(START_MS)
    const feed = createSimulatedFeed({ settings: settingsOf({ warmup_hours: 8760 }), timer, sha256Hex })
    let calls = 0
    let stopping = Promise.resolve()
    await feed.start(
      { symbols: ['BTC'], segment: 1, lastBars: new Map() },
      {
        onBars: async () => {
          calls += 1
          stopping = feed.stop()
        },
        onTick: () => undefined,
        onError: () => undefined,
      },
    )
    await stopping
    expect(calls).toBe(1)
    expect(feed.status().state).toBe('stopped')
  })
})

describe('on a store with bars', () => {
  const stored = async () => {
    const { timer, feed, calls } = await begin({ warmup_hours: 1 })
    await timer.advance(3211)
    await feed.stop()
    return new Map((calls.at(-1) ?? []).map((bar) => [bar.symbol, bar]))
  }

  it('goes on at the last closes and side values, on another path', async () => {
    const lastBars = await stored()
    const { timer, feed, calls } = await begin({}, { segment: 2, lastBars })
    await timer.advance(2 * MINUTE_MS)
    expect(openTimes(calls)[0]).toBe('2026-02-20T12:35:00.000Z')
    for (const bar of calls[0] ?? []) expect(bar.open).toBe(lastBars.get(bar.symbol)?.close)
    const again = await begin({}, { segment: 3, lastBars })
    await again.timer.advance(2 * MINUTE_MS)
    expect(again.calls[0]?.[0]?.close).not.toBe(calls[0]?.[0]?.close)
    expect(again.calls[0]?.[0]?.open).toBe(calls[0]?.[0]?.open)
    await feed.stop()
    await again.feed.stop()
  })

  it('makes up for a bounded part of the time it was down', async () => {
    const long = [...(await stored())].map(([symbol, bar]): [string, FeedBar] => [
      symbol,
      { ...bar, open_ts: '2026-02-19T00:00:00.000Z', close_ts: '2026-02-19T00:01:00.000Z' },
    ])
    const { feed, calls, errors } = await begin({}, { segment: 2, lastBars: new Map(long) })
    expect(calls).toHaveLength(CATCH_UP_BARS_MAX)
    expect(openTimes(calls)[0]).toBe('2026-02-20T08:34:00.000Z')
    expect(calls.flat().every(({ backfill }) => backfill)).toBe(true)
    expect(errors).toHaveLength(1)
    await feed.stop()
  })

  it('waits for the time of stored bars when the clock was set back, and reports it once', async () => {
    const lastBars = new Map(
      [...(await stored())].map(([symbol, bar]) => [
        symbol,
        { ...bar, open_ts: '2026-02-20T13:00:00.000Z', close_ts: '2026-02-20T13:01:00.000Z' },
      ]),
    )
    const { timer, feed, calls, errors } = await begin({}, { segment: 2, lastBars })
    await timer.advance(10 * MINUTE_MS)
    expect(errors).toEqual([
      "this machine's clock is behind the newest bar: the simulated market stands still until 2026-02-20T13:01:05.000Z",
    ])
    expect(feed.status().state).toBe('failing')
    await timer.advance(20 * MINUTE_MS)
    expect(openTimes(calls)[0]).toBe('2026-02-20T13:01:00.000Z')
    expect(feed.status()).toMatchObject({ state: 'running', error: null })
    await feed.stop()
  })
})

describe('after a pause of the process', () => {
  it('makes up for a short one, with bars that decide nothing', async () => {
    const { timer, feed, calls, ticks, errors } = await begin()
    await timer.advance(3211)
    ticks.length = 0
    await timer.jump(10 * MINUTE_MS + 2500)
    expect(openTimes(calls).at(-1)).toBe('2026-02-20T12:44:00.000Z')
    expect(calls).toHaveLength(11)
    expect(calls.slice(1).map(([bar]) => bar?.backfill)).toEqual([...Array<boolean>(9).fill(true), false])
    expect(ticks).toHaveLength(2)
    expect(errors).toEqual([])
    await feed.stop()
  })

  it('skips what is too long ago, continues at the same price, and reports it', async () => {
    const { timer, feed, calls, errors } = await begin()
    await timer.advance(3211)
    await timer.jump(24 * 60 * MINUTE_MS)
    expect(calls).toHaveLength(1 + 1 + CATCH_UP_BARS_MAX)
    expect(openTimes(calls).slice(0, 3)).toEqual([
      '2026-02-20T12:34:00.000Z',
      '2026-02-20T12:35:00.000Z',
      '2026-02-21T08:35:00.000Z',
    ])
    expect(openTimes(calls).at(-1)).toBe('2026-02-21T12:34:00.000Z')
    expect(calls[2]?.[0]?.open).toBe(calls[1]?.[0]?.close)
    expect(errors).toEqual([
      'the simulated market was paused: 1199 bars from 2026-02-20T12:36:00.000Z to 2026-02-21T08:35:00.000Z are skipped',
    ])
    await feed.stop()
  })
})

describe('its producers', () => {
  const viewAt = (asOfMs: number) =>
    ({
      asOfMs,
      analysisBarSeconds: 900,
      symbols: [{ symbol: 'BTC' }, { symbol: 'ETH' }],
    }) as unknown as MarketView

  it('are the sources no price feed has', async () => {
    const { feed } = await begin()
    expect(feed.producers.map(({ name }) => name)).toEqual([
      'ai-consensus',
      'etf-flows',
      'market-events',
      'onchain-flows',
      'social-intel',
      'stablecoin-supply',
      'whale-tracking',
    ])
    await feed.stop()
  })

  it('are the same again in the same market, and change with time', async () => {
    const rowsOf = async () => {
      const { timer, feed } = await begin({ warmup_hours: 1 })
      await timer.advance(3211)
      const run = feed.producers.map((producer) => [producer.run(viewAt(1)), producer.run(viewAt(2))])
      await feed.stop()
      return run
    }
    const first = await rowsOf()
    expect(await rowsOf()).toEqual(first)
    for (const [earlier, later] of first) expect(later).not.toEqual(earlier)
  })
})

const inputs = fc.record({
  nowMs: fc.integer({ min: 1_700_000_000_000, max: 1_900_000_000_000 }),
  barSeconds: fc.oneof(fc.constantFrom(1, 60, 300, 900, 3600, 86_400), fc.integer({ min: 1, max: 86_400 })),
  warmupHours: fc.integer({ min: 0, max: 8760 }),
})

it('plans a warm-up that ends, aligned to both bar lengths, where the ordinary bars begin', () => {
  fc.assert(
    fc.property(inputs, (input) => {
      const { warmup, openMs } = planStart({ ...input, lastCloseMs: null })
      const barMs = input.barSeconds * 1000
      expect(openMs % barMs).toBe(0)
      expect(openMs).toBeLessThanOrEqual(input.nowMs)
      expect(warmup.count * 900).toBe(input.warmupHours * 3600)
      const warmupEndMs = warmup.openMs + warmup.count * 900_000
      expect(warmupEndMs).toBeLessThanOrEqual(openMs)
      expect(openMs - warmupEndMs).toBeLessThan(barMs)
      if (warmup.count > 0) expect(warmup.openMs % 900_000).toBe(0)
    }),
  )
})

it('continues with the first bar after the stored ones', () => {
  const minute = { nowMs: 10_000_000, barSeconds: 60, warmupHours: 72 }
  expect(planStart({ ...minute, lastCloseMs: 9_000_000 })).toMatchObject({
    warmup: { count: 0 },
    openMs: 9_000_000,
  })
  expect(planStart({ ...minute, lastCloseMs: 9_000_001 }).openMs).toBe(9_060_000)
})

it('catches up with a bounded number of bars', () => {
  fc.assert(
    fc.property(inputs, fc.nat(), ({ nowMs, barSeconds }, behind) => {
      const barMs = barSeconds * 1000
      const openMs = (Math.floor(nowMs / barMs) - behind) * barMs
      const fromMs = catchUpFrom(openMs, nowMs, barSeconds)
      expect(fromMs).toBeGreaterThanOrEqual(openMs)
      expect(Math.floor((nowMs - fromMs) / barMs)).toBe(Math.min(behind, CATCH_UP_BARS_MAX))
    }),
  )
})
