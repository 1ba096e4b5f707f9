import { describe, expect, it } from 'vitest'
import { influenceOf, later, of, Simulation, type Call } from './contribution.fixture.ts'

const SEEDS = [11, 12, 13]
const SKILL = 0.68

describe('an honest author', () => {
  /** An author who mostly speaks when it expects a rise. */
  const leaning = (market: Simulation): readonly Call[] => {
    let falls = 0
    return later(market.author(SKILL), 1).filter(({ isUp }) => isUp === true || (falls += 1) % 3 === 0)
  }

  const LEANING_SEEDS = [11, 12, 13, 14, 15, 16, 17, 18]

  /**
   * Remaining influence of an author when three names without skill call its favorite direction just before it. For
   * comparison the same calls are made after it, so that base rates are the same for both.
   */
  const keptBehind = (
    callsOf: (market: Simulation) => readonly Call[],
    likes: (symbol: number) => boolean,
  ): { readonly part: number; readonly groups: readonly (string | null)[] } => {
    const sums = { after: 0, before: 0 }
    const groups: (string | null)[] = []
    for (const seed of LEANING_SEEDS) {
      const market = new Simulation(seed)
      const calls = callsOf(market)
      const days = [...new Set(calls.map(({ hour }) => Math.floor(hour / 24.25)))]
      const withNames = (hours: number) => {
        const names = ['b1', 'b2', 'b3'].map((name, place) => [
          name,
          days.flatMap((day) =>
            [0, 1, 2, 3].map((symbol) => ({
              symbol,
              hour: day * 24.25 + symbol + 1 + hours + place * 0.01,
              isUp: likes(symbol),
            })),
          ),
        ])
        return market.contributions({ ann: calls, ...Object.fromEntries(names) })
      }
      const [after, before] = [withNames(0.2), withNames(-0.05)]
      groups.push(of(before, 'ann').group)
      sums.after += influenceOf(after, 'ann')
      sums.before += influenceOf(before, 'ann')
    }
    return { part: sums.before / sums.after, groups }
  }

  it('loses nothing to names without skill that call its favourite direction just before it', () => {
    const { part, groups } = keptBehind(leaning, () => true)
    expect(groups).toEqual(LEANING_SEEDS.map(() => null))
    expect(part).toBeGreaterThan(0.95)
  })

  it('loses at most a tenth to names without skill that know only which price it likes', () => {
    const likes = (symbol: number): boolean => symbol % 2 === 0
    const leaningBySymbol = (market: Simulation): readonly Call[] => {
      let others = 0
      return later(market.author(SKILL), 1).filter(
        ({ isUp, symbol }) => isUp === likes(symbol) || (others += 1) % 3 === 0,
      )
    }
    expect(keptBehind(leaningBySymbol, likes).part).toBeGreaterThan(0.9)
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

  it.each([false, true])(
    'loses at most a tenth to guesses just before it that are corrected just after it, among other calls or not (%s)',
    (areHidden) => {
      const sums = { after: 0, before: 0 }
      for (const seed of LEANING_SEEDS) {
        const market = new Simulation(seed)
        const all = later(market.author(SKILL), 1)
        const calls = all.filter(({ symbol }) => symbol < 2)
        const others = areHidden ? all.filter(({ symbol }) => symbol >= 2) : []
        const names = ['g0', 'g1', 'g2'].map((name, place) => ({
          name,
          place,
          guesses: calls.map(() => market.chance() < 0.5),
          hidden: others.map((call) => ({ ...call, isUp: market.chance() < 0.5 })),
        }))
        const withGuesses = (hours: number) =>
          market.contributions({
            // Without that name it would sort after the others.
            zoe: calls,
            ...Object.fromEntries(
              names.map(({ name, place, guesses, hidden }) => [
                name,
                [
                  ...hidden,
                  ...calls.flatMap((call, index) => {
                    const isUp = guesses[index] ?? null
                    const guessed = { ...call, hour: call.hour + hours + place * 0.001, isUp }
                    const corrected = { ...call, hour: call.hour + Math.max(hours, 0) + 0.05 + place * 0.001 }
                    return isUp === call.isUp ? [guessed] : [guessed, corrected]
                  }),
                ],
              ]),
            ),
          })
        sums.after += influenceOf(withGuesses(0.05), 'zoe')
        sums.before += influenceOf(withGuesses(-0.05), 'zoe')
      }
      expect(sums.before / sums.after).toBeGreaterThan(0.9)
    },
  )
})
