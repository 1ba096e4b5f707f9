import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { barAt, barsFrom } from '../market/bars.fixture.ts'
import type { FeedBar } from '../market/bar.ts'
import { openDirectly } from './direct.ts'
import type { AccountFacts } from './run-strategy.ts'
import {
  defineStrategy,
  type StrategyAnswer,
  type StrategyDefinition,
  type StrategyProposal,
  type StrategyView,
} from './strategy.ts'

const BEGIN = '2026-01-01T00:00:00.000Z'

const FACTS: AccountFacts = {
  positions: [],
  account: { equityUsd: 10_000, exposureUsd: 0, dayLoss: 0, drawdown: 0, killSwitchLevel: 0 },
}

const answering = (
  onBar: (view: StrategyView) => StrategyAnswer,
  rest: Partial<StrategyDefinition> = {},
): StrategyDefinition =>
  defineStrategy({
    name: 'tested',
    parameters: z.object({}),
    timeframes: ['1m'],
    warmUpBars: 0,
    create: () => ({ onBar }),
    ...rest,
  })

/** All proposals of a strategy on these bars, decided after each of them. */
const proposed = (
  definition: StrategyDefinition,
  bars: readonly FeedBar[],
  facts = FACTS,
): readonly StrategyProposal[] => {
  const running = openDirectly(definition, {}, { analysisSeconds: () => 900 })
  return bars.flatMap((bar) => {
    running.add([bar])
    return running.decide(() => facts)
  })
}

const minutes = (closes: readonly number[]): readonly FeedBar[] => barsFrom(BEGIN, closes)

describe('a strategy', () => {
  it('is called once per closed bar of its first timeframe, and reads longer ones', () => {
    const seen: unknown[] = []
    const watching = answering(
      ({ bar, bars }) => {
        seen.push([
          bar.close,
          bars().length,
          bars({ timeframe: '15m' }).map(({ open, high, low, close, volume }) => [
            open,
            high,
            low,
            close,
            volume,
          ]),
        ])
        return null
      },
      { timeframes: ['5m', '15m'] },
    )
    proposed(watching, minutes(Array.from({ length: 15 }, (_, index) => index + 1)))
    expect(seen).toEqual([
      [5, 1, []],
      [10, 2, []],
      [15, 3, [[1, 15, 1, 15, 15]]],
    ])
  })

  it.each([
    ['of the analysis', 60, [15, 30]],
    ['of the feed where these are longer', 3600, [1, 2, 3]],
  ])('that names no timeframe is called for bars %s', (_what, resolution_s, expected) => {
    const seen: number[] = []
    const { timeframes: _none, ...definition } = answering(({ bar }) => {
      seen.push(bar.close)
      return null
    })
    const closes = Array.from({ length: resolution_s === 60 ? 30 : 3 }, (_, index) => index + 1)
    proposed(definition, barsFrom(BEGIN, closes, { resolution_s }))
    expect(seen).toEqual(expected)
  })

  it('sees no bar of another symbol that closed later than its own', () => {
    const seen: unknown[] = []
    const watching = answering(({ symbol, bars }) => {
      if (symbol === 'BTC') seen.push(bars({ symbol: 'eth' }).map(({ close }) => close))
      return null
    })
    const running = openDirectly(watching, {}, { analysisSeconds: () => 900 })
    // The bar of BTC waits while two of ETH close.
    running.add([barAt(BEGIN, 1), barAt(BEGIN, 10, { symbol: 'ETH' })])
    running.add([barAt('2026-01-01T00:01:00.000Z', 11, { symbol: 'ETH' })])
    running.decide(() => FACTS)
    expect(seen).toEqual([[10]])
  })

  it('cannot change what others see', () => {
    const spoiling = answering(({ bar, bars }) => {
      expect(() => Object.assign(bar, { close: 1 })).toThrow(TypeError)
      const mine = bars() as unknown as unknown[]
      mine.length = 0
      expect(bars()).toHaveLength(1)
      return null
    })
    proposed(spoiling, minutes([100]))
    expect.assertions(2)
  })

  it('decides nothing during its warm-up, nor on bars of the past, but sees them', () => {
    const seen: boolean[] = []
    const eager = answering(
      ({ isWarmUp }) => {
        seen.push(isWarmUp)
        return { side: 'long' }
      },
      { warmUpBars: 3 },
    )
    const past = barsFrom(BEGIN, [1, 2], { backfill: true })
    const now = barsFrom('2026-01-01T00:02:00.000Z', [3, 4])
    expect(proposed(eager, [...past, ...now])).toHaveLength(2)
    expect(seen).toEqual([true, true, false, false])
  })

  it('gets bars that a gap left incomplete, late', () => {
    const closes: number[] = []
    const watching = answering(({ bar }) => void closes.push(bar.close), { timeframes: ['5m'] })
    const [first, second] = minutes([1, 2])
    proposed(watching, [first, second, barAt('2026-01-01T00:09:00.000Z', 9)] as FeedBar[])
    expect(closes).toEqual([2, 9])
  })

  it('is asked with nothing of the future: later bars change no earlier answer', () => {
    const trend = answering(({ bars }) => {
      const all = bars({ count: 3 })
      const [first] = all
      return first !== undefined && (all.at(-1)?.close ?? 0) > first.close ? { side: 'long' } : null
    })
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 1, max: 1000, noNaN: true }), { minLength: 2, maxLength: 60 }),
        fc.nat(),
        fc.double({ min: 0.1, max: 10, noNaN: true }),
        (closes, at, factor) => {
          const cut = at % closes.length
          const changed = closes.map((close, index) => (index <= cut ? close : close * factor))
          expect(proposed(trend, minutes(closes.slice(0, cut + 1)))).toEqual(
            proposed(trend, minutes(changed.slice(0, cut + 1))),
          )
          const all = proposed(trend, minutes(changed)).length
          expect(proposed(trend, minutes(closes.slice(0, cut + 1))).length).toBeLessThanOrEqual(all)
        },
      ),
      { numRuns: 50 },
    )
  })

  it('sees its position and the account', () => {
    const position = {
      symbol: 'BTC',
      side: 'long',
      own: true,
      entryPrice: 100,
      price: 101,
      quantity: 1,
      notionalUsd: 100,
      unrealizedUsd: 1,
      openedMs: 0,
      stop: 95,
      target: null,
    } as const
    const closing = answering(({ position: own, positions, account }) =>
      own !== null && positions.length === 2 && account.equityUsd === 10_000 ? { side: 'flat' } : null,
    )
    const facts = { ...FACTS, positions: [{ ...position, own: false }, position] }
    expect(proposed(closing, minutes([101]), facts)).toEqual([
      { symbol: 'BTC', side: 'flat', conviction: 75 },
    ])
    const others = { ...FACTS, positions: [{ ...position, own: false }] }
    expect(proposed(closing, minutes([101]), others)).toEqual([])
  })
})

describe('a strategy that does what it must not', () => {
  it.each<[string, StrategyAnswer, string]>([
    ['answers an unknown side', { side: 'up' } as never, 'side'],
    ['misspells a member', { side: 'long', stopp: { percent: 2 } } as never, 'stopp'],
    ['answers no number', { side: 'long', conviction: Number.NaN }, 'conviction'],
    ['cuts a character', { side: 'long', reason: '😀'.slice(0, 1) }, 'reason: must be well-formed Unicode'],
    ['answers a promise', Promise.resolve({ side: 'long' }) as never, 'it must not be async'],
    ['names a symbol without bars', { side: 'long', symbol: 'DOGE' }, 'DOGE, which has no bars here'],
    ['places a stop on the wrong side', { side: 'long', stop: { price: 101 } }, 'is not below the price 100'],
    ['places a target on the wrong side', { side: 'short', target: { price: 101 } }, 'is not below'],
    ['has too few bars for its stop', { side: 'long', stop: { atr: 2 } }, '15 bars of BTC are needed'],
    [
      'has too few bars for its size',
      { side: 'long', size: { volatility: 0.2 } },
      '51 bars of BTC are needed',
    ],
    [
      'floods',
      Array.from({ length: 101 }, () => ({ side: 'long' as const })),
      'it answered 101 times to one bar',
    ],
  ])('that %s is an error', (_, answer, message) => {
    expect(() =>
      proposed(
        answering(() => answer),
        minutes([100]),
      ),
    ).toThrow(message)
  })

  it('is told which timeframe it lacks', () => {
    const reading = answering(({ bars }) => void bars({ timeframe: '1h' }))
    expect(() => proposed(reading, minutes([100]))).toThrow('1h is not one of its timeframes')
    expect(() =>
      proposed(
        answering(() => null, { timeframes: ['7m'] }),
        minutes([1]),
      ),
    ).toThrow('7m is not')
    const coarse = barsFrom(BEGIN, [1], { resolution_s: 900 })
    expect(() =>
      proposed(
        answering(() => null),
        coarse,
      ),
    ).toThrow('needs bars of 1m, but those of BTC are of')
    // History with longer bars is ignored without an error.
    const past = coarse.map((bar) => ({ ...bar, backfill: true }))
    expect(
      proposed(
        answering(() => ({ side: 'long' })),
        past,
      ),
    ).toEqual([])
  })

  it('cannot ask for an endless warm-up', () => {
    for (const warmUpBars of [-1, 0.5, Number.NaN, 20_001])
      expect(() =>
        proposed(
          answering(() => null, { warmUpBars }),
          minutes([1]),
        ),
      ).toThrow('warmUpBars')
  })
})

describe('size, stop and target', () => {
  const last = (answer: StrategyAnswer, closes: readonly number[]) =>
    proposed(
      answering(() => answer, { warmUpBars: closes.length }),
      minutes(closes),
    )[0]

  it('are shares of the price and of equity', () => {
    const answer = {
      side: 'long',
      size: 0.2,
      stop: { percent: 2 },
      target: { price: 110 },
      reason: 'up',
    } as const
    expect(last(answer, [100])).toEqual({
      symbol: 'BTC',
      side: 'long',
      conviction: 75,
      sizePct: 0.2,
      stopPct: 0.02,
      targetPct: 0.1,
      targetPrice: 110,
      reason: 'up',
    })
    expect(last({ side: 'short', stop: { price: 105 } }, [100])).toMatchObject({ stopPct: 0.05 })
    expect(last({ side: 'long', size: { fraction: 0.3 } }, [100])).toMatchObject({ sizePct: 0.3 })
  })

  it('may be none, or those of the settings', () => {
    expect(last({ side: 'long', stop: null, target: null }, [100])).toMatchObject({
      stopPct: null,
      targetPct: null,
    })
    expect(last({ side: 'long', size: { kelly: true } }, [100])).toEqual({
      symbol: 'BTC',
      side: 'long',
      conviction: 75,
    })
  })

  it('follow the average true range, also as they trail', () => {
    // Each bar is 2 away from the one before.
    const closes = Array.from({ length: 15 }, (_, index) => (index % 2 === 0 ? 100 : 98))
    expect(
      last({ side: 'long', stop: { atr: 3, trailing: true }, target: { atr: 5 } }, closes),
    ).toMatchObject({
      stopPct: 0.06,
      trailingPct: 0.06,
      targetPct: 0.1,
    })
  })

  it('aim at a volatility', () => {
    const closes = Array.from({ length: 51 }, (_, index) => (index % 2 === 0 ? 100 : 101))
    const wild = last({ side: 'long', size: { volatility: 0.2 } }, closes)?.sizePct ?? Number.NaN
    const calm = closes.map((close) => 100 + (close - 100) / 10)
    const larger = last({ side: 'long', size: { volatility: 0.2 } }, calm)?.sizePct ?? Number.NaN
    // A standard deviation of a hundredth per minute is about 7.2 per year.
    expect(wild).toBeCloseTo(0.2 / (0.01 * Math.sqrt((365 * 1440 * 50) / 49)), 3)
    expect(larger / wild).toBeCloseTo(10, 0)
    expect(last({ side: 'long', size: { volatility: 5, max: 0.5 } }, calm)?.sizePct).toBe(0.5)
  })
})
