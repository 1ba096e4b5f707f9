import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { barFaultOf } from '../../../core/market/bar.ts'
import { barsOf, pathOf, settingsOf } from './path.fixture.ts'
import { rounded, roundedPrice } from './rounding.ts'

describe('the golden path', () => {
  it('closes where it always closes', () => {
    const bars = barsOf(pathOf({ tick_seconds: 60 }), 1440)
    expect(bars.slice(0, 3).map((pair) => pair.map(({ close }) => close))).toEqual([
      [59_958.23, 2996.27],
      [59_987.33, 2996.84],
      [59_967.99, 2995.21],
    ])
    expect(bars[0]?.[0]).toMatchObject({
      open: 60_000,
      funding_annualized: 9.0625,
      basis_annualized: 4.2125,
      fear_greed: 46,
      open_interest_usd: null,
    })
    expect(bars[1439]?.[0]?.close).toBe(60_862.03)
  })

  it('makes a bar of twelve steps of five seconds', () => {
    const [[btc] = []] = barsOf(pathOf({ tick_seconds: 5 }), 1, 12)
    expect(btc).toMatchObject({ open: 60_000, high: 60_019.89, low: 59_987.45, close: 60_019.89 })
  })
})

const ticks = fc.constantFrom(1, 5, 60, 900, 3600)
const profiles = fc.constantFrom('default' as const, 'walk' as const)

describe('any path', () => {
  it('depends on seed, segment, step and its own symbol only', () => {
    fc.assert(
      fc.property(
        fc.nat(),
        fc.integer({ min: 1, max: 50 }),
        ticks,
        profiles,
        fc.shuffledSubarray(['ETH', 'SOL', 'DOGE', 'HYPE']),
        (seed, segment, tick_seconds, profile, others) => {
          const settings = { seed, tick_seconds, profile }
          const alone = barsOf(pathOf(settings, { segment, symbols: ['BTC'] }), 20).flat()
          const among = barsOf(pathOf(settings, { segment, symbols: [...others, 'BTC'] }), 20)
          expect(among.map((bars) => bars.at(-1))).toEqual(alone)
        },
      ),
      { numRuns: 50 },
    )
  })

  it('gives sound bars, each opening at the close before', () => {
    fc.assert(
      fc.property(
        fc.nat(),
        ticks,
        profiles,
        fc.integer({ min: 1, max: 5 }),
        (seed, tick_seconds, profile, steps) => {
          const path = pathOf({ seed, tick_seconds, profile }, { symbols: ['SUI', 'BTC', 'DOGE'] })
          const bars = barsOf(path, 50, steps)
          bars.forEach((group, index) => {
            group.forEach((bar, place) => {
              const before = bars[index - 1]?.[place] ?? null
              expect(barFaultOf(bar, before, Number.MAX_SAFE_INTEGER)).toBeNull()
              if (before !== null) expect(bar.open).toBe(before.close)
            })
          })
        },
      ),
      { numRuns: 50 },
    )
  })

  it('uses the spelling of the universe and the asset behind it', () => {
    const [[spelled] = []] = barsOf(pathOf({}, { symbols: ['btc/usdt'] }), 1)
    const [[plain] = []] = barsOf(pathOf({}, { symbols: ['BTC'] }), 1)
    expect(spelled).toEqual({ ...plain, symbol: 'btc/usdt' })
  })

  it('takes a symbol named like a built-in member for an ordinary one', () => {
    expect(pathOf({}, { symbols: ['constructor', 'TOSTRING'] }).symbols.map(({ price }) => price)).toEqual([
      100, 100,
    ])
  })
})

describe('a later segment', () => {
  const lastBar = barsOf(pathOf({ tick_seconds: 60 }), 500).at(-1)?.[0]
  const lastBars = new Map(lastBar === undefined ? [] : [['BTC', lastBar]])

  it('begins at the last close and side values, sideways', () => {
    const path = pathOf({ tick_seconds: 60 }, { segment: 2, lastBars })
    expect(path.market().phase).toBe('chop')
    expect(path.symbols[0]?.price).toBe(lastBar?.close)
    expect(path.symbols[0]?.state).toMatchObject({
      fundingAnnualized: lastBar?.funding_annualized,
      basisAnnualized: lastBar?.basis_annualized,
      fearGreed: lastBar?.fear_greed,
    })
  })

  it('lets a new symbol begin at its start price', () => {
    expect(pathOf({}, { segment: 2, lastBars }).symbols[1]?.price).toBe(3000)
  })
})

describe('the bounds of a step', () => {
  const { sim } = settingsOf()

  it('hold whatever jumps', () => {
    const wild = { ...sim, crisis_jumps_per_day: 1000, jumps_per_day: 1000, jump_size: 1 }
    const path = pathOf({ tick_seconds: 3600, sim: wild }, { symbols: ['BTC'] })
    let [before] = path.symbols.map(({ state }) => state.price)
    let largest = 0
    for (let step = 0; step < 500; step += 1) {
      path.step()
      const [now] = path.symbols.map(({ state }) => state.price)
      largest = Math.max(largest, Math.abs((now ?? 0) / (before ?? 0) - 1))
      before = now
    }
    expect(largest).toBeGreaterThan(0.17)
    expect(largest).toBeLessThanOrEqual(0.2 + 0.02 + 1e-9)
  })

  it('keep prices where they can be written, however long it rises or falls', () => {
    for (const drift of [100, -100]) {
      const chop = { ...sim.chop, drift, dwell_days: 3650 }
      const path = pathOf({ tick_seconds: 3600, sim: { ...sim, chop } }, { symbols: ['BTC'] })
      const closes = barsOf(path, 20_000).flatMap((bars) => bars.map((bar) => bar.close))
      expect(Math.min(...closes)).toBeGreaterThanOrEqual(0.01)
      expect(Math.max(...closes)).toBeLessThanOrEqual(1e12)
    }
  })
})

it.each([
  [59_958.2312, 0.01, 59_958.23],
  [2.00005, 0.0001, 2.0001],
  [1234.567, 0.05, 1234.55],
  [1234.567, 5, 1235],
  [1234.567, 0.3, 1234.5],
  [1234.567, 1, 1235],
  [0.000000123, 0.0000000001, 0.00000012],
  [0.001, 0.01, 0.01],
])('%d with a tick size of %d is %d', (price, tickSize, result) => {
  expect(roundedPrice(price, tickSize)).toBe(result)
})

it('a rounded price is near, positive, and has no more decimals than its tick', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 1e-6, max: 1e6, noNaN: true }),
      fc.constantFrom(1, 0.1, 0.01, 0.001, 0.0001),
      (price, tickSize) => {
        const result = roundedPrice(price, tickSize)
        expect(result).toBeGreaterThan(0)
        expect(Math.abs(result - Math.max(price, tickSize / 2))).toBeLessThanOrEqual(tickSize * 0.500001)
        expect((String(result).split('.')[1] ?? '').length).toBeLessThanOrEqual(4)
      },
    ),
  )
})

it('rounding gives no negative zero', () => {
  expect(Object.is(rounded(-0.00001, 1e4), 0)).toBe(true)
})
