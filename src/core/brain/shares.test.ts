import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  builtin,
  contributor,
  cycleOf,
  firstOf,
  registered,
  signalOf,
  type BrainSignal,
} from './scenario.fixture.ts'
import { sharesOf, type ShareClaim } from './domain-score.ts'

describe('shares', () => {
  const claims: fc.Arbitrary<readonly ShareClaim[]> = fc.array(
    fc.record({
      weight: fc.double({ min: 1e-6, max: 10, noNaN: true }),
      capGroup: fc.constantFrom(null, 'a', 'b', 'c', 'd'),
    }),
    { minLength: 1, maxLength: 12 },
  )
  const caps = fc.double({ min: 0.01, max: 1, noNaN: true })

  it('keep every group within the cap and all together within 1', () => {
    fc.assert(
      fc.property(claims, caps, (all, cap) => {
        const shares = sharesOf(all, cap)
        expect(shares.every((share) => share > 0)).toBe(true)
        const groups = new Set(all.map(({ capGroup }) => capGroup))
        for (const group of groups) {
          const share = total(
            all.map(({ capGroup }, index) => (capGroup === group ? (shares[index] ?? 0) : 0)),
          )
          if (group !== null) expect(share).toBeLessThanOrEqual(cap + 1e-12)
        }
        const left = groups.has(null) ? 1 : Math.min(1, groups.size * cap)
        expect(total(shares)).toBeCloseTo(left, 9)
      }),
    )
  })

  it('stay in proportion while nobody is at the cap', () => {
    const [small, large] = [
      { weight: 1, capGroup: 'a' },
      { weight: 3, capGroup: null },
    ]
    expect(sharesOf([small, large], 0.5)).toStrictEqual([0.25, 0.75])
  })

  it('of a group are those of its strongest, divided among all', () => {
    const honest = { weight: 2, capGroup: 'honest' }
    const many = [2, 2, 1].map((weight) => ({ weight, capGroup: 'many' }))
    const other = { weight: 4, capGroup: null }
    const shares = sharesOf([honest, ...many, other], 0.5)
    expect(shares.map((share) => share.toFixed(12))).toEqual(
      [0.25, 0.1, 0.1, 0.05, 0.5].map((share) => share.toFixed(12)),
    )
  })

  it('follow what the calls of an author add', () => {
    const call = { direction: 'bullish', conviction: 10 }
    const of = (author: BrainSignal['author']) => signalOf('curator', call, { id: author.id, author })
    const authors = [contributor('a', 3), contributor('b', 1.5), contributor('c')]
    const { inputs } = firstOf(cycleOf({ signals: authors.map(of) }))
    const [first, second, third] = inputs.map(({ share }) => share)
    expect(first).toBe(0.5)
    expect([second, third].map((share) => share?.toFixed(9))).toEqual(['0.300000000', '0.200000000'])
  })

  it('hold for linked contributors and registered producers in a cycle', () => {
    const call = { direction: 'bullish', conviction: 10 }
    const inputs = (signals: readonly BrainSignal[]) =>
      Object.fromEntries(firstOf(cycleOf({ signals })).inputs.map(({ authorId, share }) => [authorId, share]))
    const of = (author: BrainSignal['author']) => signalOf('curator', call, { id: author.id, author })
    expect(
      inputs([
        of(contributor('a', 0, 'gang')),
        of(contributor('b', 0, 'gang')),
        of(contributor('c', 0, 'gang')),
      ]),
    ).toStrictEqual({ a: 0.5 / 3, b: 0.5 / 3, c: 0.5 / 3 })
    expect(
      inputs([
        of(registered('p')),
        of(builtin('h', { worth: { influence: 0.2, newcomer: 0, groupId: null } })),
      ]),
    ).toStrictEqual({
      p: 0.5,
      h: 0.5,
    })
    expect(inputs([of(builtin('h'))])).toStrictEqual({ h: 1 })
    // Contributors are linked by the name of their group. The name of another author does not lead into that author's
    // cap.
    expect(inputs([of(contributor('a', 0, 'contributor:b')), of(contributor('b'))])).toStrictEqual({
      a: 0.5,
      b: 0.5,
    })
  })

  it('of all newcomers together are that of one', () => {
    const call = { direction: 'bullish', conviction: 10 }
    const of = (author: BrainSignal['author']) => signalOf('curator', call, { id: author.id, author })
    const known = builtin('known', { worth: { influence: 3, newcomer: 0.5, groupId: null } })
    const shareOfKnown = (newcomers: number): number | undefined =>
      firstOf(
        cycleOf({
          signals: [
            of(known),
            ...Array.from({ length: newcomers }, (_, index) => of(contributor(`n${index}`))),
          ],
        }),
      ).inputs.find(({ authorId }) => authorId === 'known')?.share
    // 3 + 0.5 / 1.5 of 3 + 1, then 3 + 0.5 / 100.5 of the same.
    expect(shareOfKnown(1)).toBeCloseTo(0.833333333333, 11)
    expect(shareOfKnown(100)).toBeCloseTo(0.751243781095, 11)
    expect(shareOfKnown(0)).toBe(1)
  })

  it('of any newcomers are that of the newest of them', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 30 }),
        fc.double({ min: 0.01, max: 40, noNaN: true }),
        (newcomers, influence) => {
          const call = { direction: 'bullish', conviction: 10 }
          const of = (author: BrainSignal['author']) => signalOf('curator', call, { id: author.id, author })
          const known = builtin('known', { worth: { influence, newcomer: 0, groupId: null } })
          const others = newcomers.map((newcomer, index) =>
            builtin(`n${index}`, { worth: { influence: 0, newcomer, groupId: null } }),
          )
          const { inputs } = firstOf(cycleOf({ signals: [known, ...others].map(of) }))
          const share = total(inputs.flatMap(({ authorId, share: own }) => (authorId === 'known' ? [] : own)))
          const most = Math.max(...newcomers)
          expect(share).toBeCloseTo(most / (influence + most), 9)
        },
      ),
      { numRuns: 50 },
    )
  })

  const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)
})
