import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DEFAULT_CONFIGURATION } from '../config/validate.ts'
import { authorKey } from '../shared/author-key.ts'
import { contributorId } from '../shared/brand.ts'
import { decodeState, encodeState } from '../state-codec.ts'
import { contributionsOf, weightOf } from './contribution.ts'
import { contributionsAfter, influenceOf, later, of, Simulation, type Call } from './contribution.fixture.ts'
import { edgeAfter, NO_EDGE } from './edge.ts'
import { contributionsIn } from './evolve.ts'
import { NO_OVERLAPS } from './overlaps.ts'

const SEEDS = [11, 12, 13]
const SKILL = 0.68

/** Influence of an author without any other author. */
const alone = (market: Simulation, calls: readonly Call[]): number =>
  influenceOf(market.contributions({ ann: calls }), 'ann')

const flipped = (market: Simulation, calls: readonly Call[], share: number): readonly Call[] =>
  calls.map((call) => (market.chance() < share ? { ...call, isUp: call.isUp === false } : call))

describe('the influence of an author', () => {
  it('is the golden number', () => {
    const edge = Array.from({ length: 200 }).reduce<typeof NO_EDGE>(
      (before, _, day) =>
        edgeAfter(before, { surplus: day % 5 < 3 ? 0.5 : -0.5, spacing: 1, days: 1 }, day + 1, 200),
      NO_EDGE,
    )
    const all = contributionsOf(
      { edges: [['ann', edge]], overlaps: NO_OVERLAPS },
      DEFAULT_CONFIGURATION.karma.influence,
    )
    const ann = all.get('ann')
    expect(ann?.own).toBeCloseTo(0.134011339, 9)
    // 40 · own² / (own + 0.05)
    expect(ann?.influence).toBeCloseTo(3.903898326, 8)
    expect(ann?.newcomer).toBe(5 / 205)
    expect(ann).toMatchObject({ repeats: [], group: null })
  })

  it('is none without outcomes: a newcomer has 1', () => {
    const market = new Simulation(11, 1)
    const contribution = of(market.contributions({}), 'ann')
    expect(contribution).toMatchObject({ influence: 0, newcomer: 1, own: 0, group: null })
    expect(weightOf(contribution)).toBe(1)
  })

  it('follows skill', () => {
    const meanOf = (skill: number): number => {
      const all = SEEDS.map((seed) => {
        const market = new Simulation(seed, 120)
        return alone(market, market.author(skill))
      })
      return all.reduce((sum, influence) => sum + influence, 0) / all.length
    }
    const [guess = 0, good = 0, best = 0] = [0.5, 0.62, 0.72].map(meanOf)
    expect(guess).toBeLessThan(0.2)
    expect(good).toBeGreaterThan(1)
    expect(best).toBeGreaterThan(2.5 * good)
  })

  it('stays what it was among independent authors, however good they are', () => {
    const names = ['ann', 'bob', 'cleo', 'dan']
    for (const seed of SEEDS) {
      const market = new Simulation(seed)
      const authors = Object.fromEntries(names.map((name) => [name, market.author(SKILL)]))
      const together = market.contributions(authors)
      const apart = Object.values(authors).reduce((sum, calls) => sum + alone(market, calls), 0)
      expect(influenceOf(together, ...names) / apart).toBeGreaterThan(0.9)
      expect(names.map((name) => of(together, name).group)).toEqual([null, null, null, null])
    }
  })
})

describe('who repeats another', () => {
  // By name, the copy would come first.
  it.each([0.003, 0.18, 1, 4, 8, 12, 18, 23.5])('%f hours later adds nothing, and takes nothing', (hours) => {
    for (const seed of SEEDS) {
      const market = new Simulation(seed)
      const calls = market.author(SKILL)
      const before = alone(market, calls)
      const both = market.contributions({ zoe: calls, abe: later(calls, hours) })
      expect(influenceOf(both, 'zoe') / before).toBeGreaterThan(0.95)
      expect(influenceOf(both, 'zoe', 'abe') / before).toBeLessThan(1.1)
    }
  })

  it('is in the group of the original', () => {
    const market = new Simulation(11)
    const calls = market.author(SKILL)
    const both = market.contributions({ zoe: calls, abe: later(calls, 1), ann: market.author(SKILL) })
    const zoe = authorKey(contributorId('zoe'), '')
    expect(['zoe', 'abe', 'ann'].map((name) => of(both, name).group)).toEqual([zoe, zoe, null])
    expect(of(both, 'abe').repeats[0]?.author).toBe(zoe)
    expect(of(both, 'abe').repeats[0]?.overlap).toBeGreaterThan(0.9)
    expect(of(both, 'zoe').repeats).toEqual([])
  })

  it('under five names has the influence of one', () => {
    for (const seed of SEEDS) {
      const market = new Simulation(seed)
      const calls = market.author(SKILL)
      const names = ['a', 'b', 'c', 'd', 'e']
      const same = Object.fromEntries(names.map((name, index) => [name, later(calls, index * 0.02)]))
      expect(influenceOf(market.contributions(same), ...names) / alone(market, calls)).toBeLessThan(1.05)
      const inTurns = Object.fromEntries(
        names.map((name, index) => [
          name,
          calls.map((call) => ({
            ...call,
            hour: call.hour + (((index + Math.floor(call.hour)) % 5) + 1) / 50,
          })),
        ]),
      )
      expect(influenceOf(market.contributions(inTurns), ...names) / alone(market, calls)).toBeLessThan(1.05)
    }
  })

  it('with mistakes of its own adds nothing', () => {
    for (const seed of SEEDS) {
      const market = new Simulation(seed)
      const calls = market.author(SKILL)
      const names = ['a', 'b', 'c', 'd']
      const noisy = names.map((name) => [name, flipped(market, later(calls, 0.5), 0.15)] as const)
      const all = market.contributions({ zoe: calls, ...Object.fromEntries(noisy) })
      expect(influenceOf(all, 'zoe') / alone(market, calls)).toBeGreaterThan(0.95)
      expect(influenceOf(all, 'zoe', ...names) / alone(market, calls)).toBeLessThan(1.1)
    }
  })

  it('as several names with mistakes of their own has no more than under one', () => {
    const sums = { one: 0, several: 0 }
    for (let seed = 31; seed < 55; seed += 1) {
      const market = new Simulation(seed, 40)
      const calls = market.author(0.56)
      sums.one += alone(market, calls)
      const names = ['a', 'b', 'c', 'd', 'e']
      const noisy = names.map((name) => {
        const sometimeLater = calls.map((call) => ({ ...call, hour: call.hour + 0.01 + 2 * market.chance() }))
        return [name, flipped(market, sometimeLater, 0.15)] as const
      })
      sums.several += influenceOf(market.contributions(Object.fromEntries(noisy)), ...names)
    }
    expect(sums.several / sums.one).toBeLessThan(1.1)
  })

  it('behind calls that expect nothing adds nothing', () => {
    for (const seed of SEEDS) {
      const market = new Simulation(seed)
      const calls = market.author(SKILL)
      const hidden = [...later(calls, 0.05).map((call) => ({ ...call, isUp: null })), ...later(calls, 0.1)]
      const inOrder = hidden.toSorted((one, other) => one.hour - other.hour)
      const both = market.contributions({ zoe: calls, abe: inOrder })
      expect(influenceOf(both, 'zoe', 'abe') / alone(market, calls)).toBeLessThan(1.1)
    }
  })

  it('or divides one opinion over several names by symbol has no more of any symbol than one', () => {
    for (const seed of SEEDS) {
      const market = new Simulation(seed)
      const calls = market.author(SKILL)
      const names = ['a', 'b', 'c', 'd']
      const parts = names.map(
        (name, symbol) => [name, calls.filter((call) => call.symbol === symbol)] as const,
      )
      const all = market.contributions(Object.fromEntries(parts))
      const mean = influenceOf(all, ...names) / names.length
      expect(mean / alone(market, calls)).toBeLessThan(1.1)
    }
  })

  it('does not speak first because others follow it elsewhere', () => {
    for (const seed of SEEDS) {
      const market = new Simulation(seed)
      const [calls, guesses] = [market.author(SKILL), market.author(0.5)]
      const original = calls.filter(({ symbol }) => symbol < 2)
      const elsewhere = guesses.filter(({ symbol }) => symbol >= 2)
      const followers = Array.from(
        { length: 12 },
        (_, index) => [`f${index}`, later(elsewhere, 0.1)] as const,
      )
      const influenceWith = (abe: readonly Call[], ...names: readonly string[]) =>
        influenceOf(market.contributions({ zoe: original, abe, ...Object.fromEntries(followers) }), ...names)
      const before = influenceWith(elsewhere, 'zoe')
      const copied = [...later(original, 0.2), ...elsewhere]
      expect(influenceWith(copied, 'zoe') / before).toBeGreaterThan(0.95)
      expect(influenceWith(copied, 'zoe', 'abe') / before).toBeLessThan(1.1)
    }
  })

  it('is found even if it always says the same', () => {
    for (const seed of SEEDS) {
      const market = new Simulation(seed)
      const bull = market.author(0.5).map((call) => ({ ...call, isUp: true }))
      const names = ['a', 'b', 'c', 'd', 'e']
      const all = market.contributions(
        Object.fromEntries(names.map((name, index) => [name, later(bull, index * 0.02)])),
      )
      const [first] = names.map((name) => of(all, name).group)
      expect(first).not.toBeNull()
      expect(new Set(names.map((name) => of(all, name).group))).toEqual(new Set([first]))
    }
  })

  it('has no vote of a newcomer either', () => {
    const market = new Simulation(11, 12)
    const calls = market.author(SKILL)
    const both = market.contributions({ zoe: calls, abe: later(calls, 0.1), ann: market.author(SKILL) })
    const [zoe, abe, ann] = ['zoe', 'abe', 'ann'].map((name) => of(both, name).newcomer)
    expect(zoe).toBeCloseTo(5 / 53, 12)
    expect(abe).toBeLessThan(0.1 * (5 / 53))
    expect(ann).toBeGreaterThan(0.5 * (5 / 53))
  })
})

describe('contributions', () => {
  it('are the same after a restart, to the bit', () => {
    const market = new Simulation(12, 20)
    const calls = market.author(SKILL)
    const state = market.stateAfter({
      zoe: calls,
      abe: later(calls, 0.3),
      mia: flipped(market, later(calls, 1), 0.3),
      ann: market.author(SKILL),
    })
    const restarted = decodeState(encodeState(state))
    expect([...contributionsAfter(restarted)]).toStrictEqual([...contributionsAfter(state)])
  })

  it('are computed once as long as nothing changes', () => {
    const market = new Simulation(12, 5)
    const calls = market.author(SKILL)
    const state = market.stateAfter({ zoe: calls })
    const before = contributionsAfter(state)
    expect(contributionsAfter(state)).toBe(before)
    const { influence } = DEFAULT_CONFIGURATION.karma
    const { reputation } = state
    expect(contributionsIn(reputation, { ...influence, prior: 0 })).not.toEqual(before)
    const outcomes = { ...reputation.outcomes, edges: reputation.outcomes.edges.clear() }
    expect(contributionsIn({ ...reputation, outcomes }, influence).size).toBe(0)
    expect([...contributionsAfter(state)]).toStrictEqual([...before])
  })

  it('do not depend on the order in which calls of one time arrive', () => {
    const market = new Simulation(13, 60)
    // Each author has separate symbols: on a shared symbol the order of calls matters.
    const bySymbol = (symbol: number) => market.author(0.8).filter((call) => call.symbol === symbol)
    const authors = Object.fromEntries(
      ['a', 'b', 'c'].map((name, index) => [
        name,
        bySymbol(index).map((call) => ({ ...call, hour: Math.floor(call.hour / 24.25) * 25 })),
      ]),
    )
    const [one, other] = [false, true].map((isReversed) => market.stateAfter(authors, isReversed))
    if (one === undefined || other === undefined) throw new Error('two states were asked for')
    // Grades depend on the drift before an outcome, and so on the order of the log.
    const sameGrades = {
      ...other,
      reputation: { ...other.reputation, outcomes: one.reputation.outcomes },
    }
    const [before, after] = [contributionsAfter(one), contributionsAfter(sameGrades)]
    expect(influenceOf(before, 'a', 'b', 'c')).toBeGreaterThan(0.1)
    for (const name of ['a', 'b', 'c']) {
      expect(of(before, name).influence).toBeCloseTo(of(after, name).influence, 9)
      expect(of(before, name).newcomer).toBe(of(after, name).newcomer)
    }
  })

  it('of copies are together at most that of one, whatever they do', () => {
    const copy = fc.record({
      hours: fc.double({ min: 0.001, max: 23, noNaN: true }),
      noise: fc.constantFrom(0, 0, 0.1, 0.2),
      keeps: fc.constantFrom(1, 1, 0.7),
    })
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1e6 }),
        fc.array(copy, { minLength: 1, maxLength: 5 }),
        (seed, copies) => {
          const market = new Simulation(seed, 50)
          const calls = market.author(0.72)
          const names = copies.map((_, index) => `c${index}`)
          const copied = copies.map(({ hours, noise, keeps }, index) => [
            names[index],
            flipped(market, later(calls, hours), noise).filter(() => market.chance() < keeps),
          ])
          const before = alone(market, calls)
          const all = market.contributions({ zoe: calls, ...Object.fromEntries(copied) })
          expect(influenceOf(all, 'zoe')).toBeGreaterThan(0.9 * before)
          expect(influenceOf(all, 'zoe', ...names)).toBeLessThan(1.1 * before + 0.05)
          for (const contribution of all.values()) {
            expect(contribution.influence).toBeGreaterThanOrEqual(0)
            expect(contribution.newcomer).toBeGreaterThan(0)
            expect(contribution.own).toBeLessThanOrEqual(contribution.edge.sure)
          }
        },
      ),
      { numRuns: 25, seed: 24 },
    )
  })
})
