import { describe, expect, it } from 'vitest'
import { influenceOf, later, of, Simulation, type Call } from './contribution.fixture.ts'

const SEEDS = [11, 12, 13]
const SKILL = 0.68

describe('an honest author', () => {
  /** Speaks up mostly when it expects a rise. */
  const leaning = (market: Simulation): readonly Call[] => {
    let falls = 0
    return later(market.author(SKILL), 1).filter(({ isUp }) => isUp === true || (falls += 1) % 3 === 0)
  }

  const LEANING_SEEDS = [11, 12, 13, 14, 15, 16, 17, 18]

  it('loses nothing to names without skill that call its favourite direction just before it', () => {
    const names = ['b1', 'b2', 'b3']
    const sums = { after: 0, before: 0 }
    for (const seed of LEANING_SEEDS) {
      const market = new Simulation(seed)
      const calls = leaning(market)
      const days = [...new Set(calls.map(({ hour }) => Math.floor(hour / 24.25)))]
      // The same calls before or after those of the author: base rates are the same for both.
      const withBulls = (hours: number) => {
        const bulls = names.map((name, place) => [
          name,
          days.flatMap((day) =>
            [0, 1, 2, 3].map((symbol) => ({
              symbol,
              hour: day * 24.25 + symbol + 1 + hours + place * 0.01,
              isUp: true,
            })),
          ),
        ])
        return market.contributions({ ann: calls, ...Object.fromEntries(bulls) })
      }
      const [after, before] = [withBulls(0.2), withBulls(-0.05)]
      expect(of(before, 'ann').group).toBeNull()
      sums.after += influenceOf(after, 'ann')
      sums.before += influenceOf(before, 'ann')
    }
    expect(sums.before / sums.after).toBeGreaterThan(0.95)
  })

  it('loses at most a tenth to names without skill that know only which price it likes', () => {
    const names = ['b1', 'b2', 'b3']
    const likes = (symbol: number): boolean => symbol % 2 === 0
    const sums = { after: 0, before: 0 }
    for (const seed of LEANING_SEEDS) {
      const market = new Simulation(seed)
      let others = 0
      const calls = later(market.author(SKILL), 1).filter(
        ({ isUp, symbol }) => isUp === likes(symbol) || (others += 1) % 3 === 0,
      )
      const days = [...new Set(calls.map(({ hour }) => Math.floor(hour / 24.25)))]
      const withFans = (hours: number) => {
        const fans = names.map((name, place) => [
          name,
          days.flatMap((day) =>
            [0, 1, 2, 3].map((symbol) => ({
              symbol,
              hour: day * 24.25 + symbol + 1 + hours + place * 0.01,
              isUp: likes(symbol),
            })),
          ),
        ])
        return market.contributions({ ann: calls, ...Object.fromEntries(fans) })
      }
      sums.after += influenceOf(withFans(0.2), 'ann')
      sums.before += influenceOf(withFans(-0.05), 'ann')
    }
    expect(sums.before / sums.after).toBeGreaterThan(0.9)
  })

  it('loses nothing to guesses under many names just before it', () => {
    const sums = { after: 0, before: 0 }
    for (const seed of SEEDS) {
      const market = new Simulation(seed)
      const calls = later(market.author(SKILL), 1)
      const guesses = Array.from({ length: 12 }, () => calls.map(() => market.chance() < 0.5))
      const withGuesses = (hours: number) =>
        market.contributions({
          ann: calls,
          ...Object.fromEntries(
            guesses.map((guess, place) => [
              `g${place}`,
              calls.map((call, index) => ({
                ...call,
                hour: call.hour + hours + place * 0.001,
                isUp: guess[index] ?? null,
              })),
            ]),
          ),
        })
      sums.after += influenceOf(withGuesses(0.05), 'ann')
      sums.before += influenceOf(withGuesses(-0.05), 'ann')
    }
    expect(sums.before / sums.after).toBeGreaterThan(0.9)
  })

  it('keeps its weight if one that knows as much copies half of its calls', () => {
    for (const seed of SEEDS) {
      const market = new Simulation(seed)
      const [calls, others] = [market.author(SKILL), market.author(SKILL)]
      const half = [
        ...later(calls, 0.1).filter(({ symbol }) => symbol < 2),
        ...others.filter(({ symbol }) => symbol >= 2),
      ].toSorted((one, other) => one.hour - other.hour)
      const both = market.contributions({ zoe: calls, abe: half })
      expect(
        influenceOf(both, 'zoe') / influenceOf(market.contributions({ zoe: calls }), 'zoe'),
      ).toBeGreaterThan(0.95)
      expect(of(both, 'zoe').repeats).toEqual([])
    }
  })
})
