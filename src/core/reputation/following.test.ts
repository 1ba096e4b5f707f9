import { Map as PersistentMap } from 'immutable'
import { describe, expect, it } from 'vitest'
import { DEFAULT_CONFIGURATION } from '../config/validate.ts'
import { contributionsOf, type Contributions } from './contribution.ts'
import { edgeAfter, NO_EDGE, type Edge } from './edge.ts'
import { NO_OVERLAPS } from './overlaps.ts'

/** Edge with one outcome a day, of which `right` out of ten are fully right. */
const edgeOf = (right: number): Edge =>
  Array.from({ length: 200 }).reduce<Edge>(
    (before, _, day) =>
      edgeAfter(before, { surplus: (day * 7) % 10 < right ? 0.5 : -0.5, spacing: 1, days: 1 }, day + 1, 60),
    NO_EDGE,
  )

type Repeated = readonly [later: string, earlier: string, agreement: number, nearness: number]

const CALLS = 100

const contributionsWith = (
  rightOf: Readonly<Record<string, number>>,
  repeated: readonly Repeated[],
  calls = CALLS,
): Contributions =>
  contributionsOf(
    {
      edges: Object.entries(rightOf).map(([author, right]) => [author, edgeOf(right)]),
      overlaps: {
        ...NO_OVERLAPS,
        counts: PersistentMap(
          Object.keys(rightOf).map((author) => [author, { calls, weight: calls, squares: calls, lean: 0 }]),
        ),
        repetitions: PersistentMap(
          repeated.map(([later, earlier, agreement, nearness]) => [
            `${later}\n${earlier}`,
            {
              agreed: calls * agreement * nearness,
              atOnce: calls * agreement * nearness,
              squares: calls * nearness * nearness,
              asOfCall: calls,
              day: 1,
            },
          ]),
        ),
      },
    },
    DEFAULT_CONFIGURATION.karma.influence,
  )

const influence = (all: Contributions, author: string): number => all.get(author)?.influence ?? Number.NaN

/** Nearness of a call that is repeated 23 hours later and has nearly ended. */
const LATE = 0.08

describe('who follows another', () => {
  const apart = contributionsWith({ ann: 7, zoe: 7 }, [])
  const full = influence(apart, 'zoe')

  it('as late as can be has nothing beyond it, and takes nothing', () => {
    const both = contributionsWith({ ann: 7, zoe: 7 }, [['ann', 'zoe', 1, LATE]])
    expect(influence(both, 'ann')).toBeCloseTo(0, 9)
    expect(influence(both, 'zoe')).toBe(full)
    expect(both.get('ann')?.follows).toMatchObject([{ author: 'zoe' }])
    expect(both.get('ann')?.follows[0]?.part).toBeCloseTo(1, 9)
    expect(both.get('ann')?.newcomer).toBeLessThan(0.1 * (apart.get('ann')?.newcomer ?? 0))
    expect(both.get('ann')?.newcomer).toBeGreaterThan(0)
  })

  it('and is better keeps what is sure of the difference: together they have less than the better one', () => {
    const both = contributionsWith({ ann: 8, zoe: 7 }, [['ann', 'zoe', 1, LATE]])
    const best = influence(contributionsWith({ ann: 8 }, []), 'ann')
    expect(influence(both, 'zoe')).toBe(full)
    expect(influence(both, 'ann')).toBeGreaterThan(0.3 * (best - full))
    expect(influence(both, 'ann')).toBeLessThan(0.6 * (best - full))
  })

  it('in most calls loses that part, and what is not sure of the rest', () => {
    const [always, mostly] = [1, 0.9].map((agreement) =>
      contributionsWith({ ann: 8, zoe: 7 }, [['ann', 'zoe', agreement, LATE]]),
    ) as [Contributions, Contributions]
    const part = mostly.get('ann')?.follows[0]?.part ?? Number.NaN
    expect(part).toBeLessThan(0.9)
    expect(influence(mostly, 'ann')).toBeGreaterThan(influence(always, 'ann'))
    expect(influence(mostly, 'ann')).toBeLessThan(
      influence(contributionsWith({ ann: 8 }, []), 'ann') - part * full,
    )
  })

  it.each([
    ['agrees in fewer calls', [['ann', 'zoe', 0.5, LATE]], CALLS],
    [
      'agrees no more than the other does with it',
      [
        ['ann', 'zoe', 0.9, LATE],
        ['zoe', 'ann', 0.9, LATE],
      ],
      CALLS,
    ],
    ['has made too few calls to say', [['ann', 'zoe', 1, LATE]], 4],
    ['says the opposite', [['ann', 'zoe', -1, LATE]], CALLS],
  ] as const)('is nobody who %s', (_why, repeated, calls) => {
    const both = contributionsWith({ ann: 7, zoe: 7 }, repeated, calls)
    expect(both.get('ann')?.follows).toEqual([])
    expect(both.get('zoe')?.follows).toEqual([])
    expect(influence(both, 'ann')).toBe(full)
  })

  it('takes nothing from somebody without an edge who is followed', () => {
    const both = contributionsWith({ ann: 7, zoe: 5 }, [['ann', 'zoe', 1, LATE]])
    expect(influence(both, 'ann')).toBe(full)
  })

  it('does not put a rival behind the original who agrees with it by chance', () => {
    // Bob and zoe repeat each other as much; by name bob is first.
    const rivals: readonly Repeated[] = [
      ['bob', 'zoe', 0.3, 1],
      ['zoe', 'bob', 0.3, 1],
    ]
    const alone = contributionsWith({ bob: 7, zoe: 7 }, rivals)
    expect(influence(alone, 'zoe')).toBeLessThan(influence(alone, 'bob'))
    const copied = contributionsWith({ ann: 7, bob: 7, zoe: 7 }, [
      ...rivals,
      ['ann', 'zoe', 1, 0.94],
      ['bob', 'ann', 0.5, 1],
    ])
    expect(influence(copied, 'zoe')).toBeCloseTo(influence(alone, 'zoe'), 9)
    expect(influence(copied, 'bob')).toBeCloseTo(influence(alone, 'bob'), 9)
    expect(influence(copied, 'ann')).toBeCloseTo(0, 9)
  })
})
