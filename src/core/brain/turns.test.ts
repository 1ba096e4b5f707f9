import { expect, it } from 'vitest'
import { contributor, curatorCall, cycleOf, firstOf, HOUR_MS, type BrainSignal } from './scenario.fixture.ts'

/** Share of each author in the vote. */
const sharesOf = (signals: readonly BrainSignal[]) =>
  Object.fromEntries(firstOf(cycleOf({ signals })).inputs.map(({ authorId, share }) => [authorId, share]))

const together = (shares: Readonly<Record<string, number>>, prefix: string): number =>
  Object.entries(shares).reduce((sum, [name, share]) => sum + (name.startsWith(prefix) ? share : 0), 0)

const says = (
  id: string,
  influence: number,
  { newcomer = 0.02, ...changes }: { newcomer?: number; ageMs?: number; isOver?: boolean } = {},
): BrainSignal =>
  curatorCall('bullish', 5, {
    ...changes,
    id,
    author: { ...contributor(id), worth: { influence, newcomer, groupId: null } },
  })

/** Each call lasts four hours, and each signal stays fresh for a day. */
const inTurn = (influence: number, places: readonly number[]): readonly BrainSignal[] =>
  places.map((place) => says(`turn-${place}`, influence, { ageMs: place * 5 * HOUR_MS, isOver: place > 0 }))

const honest = [says('honest-1', 4), says('honest-2', 4), says('honest-3', 4)]

it('names that take turns have together what one of them would have', () => {
  const alone = together(sharesOf([...honest, ...inTurn(4, [0])]), 'turn')
  const five = together(sharesOf([...honest, ...inTurn(4, [0, 1, 2, 3, 4])]), 'turn')
  expect(alone).toBeCloseTo(0.25, 2)
  expect(five / alone).toBeLessThan(1.01)
})

it('names that wait until all of their calls are over have together what one of them would have', () => {
  const few = [says('honest-1', 1), says('honest-2', 0.8), says('honest-3', 0.7)]
  const alone = together(sharesOf([...few, ...inTurn(4, [1])]), 'turn')
  const four = together(sharesOf([...few, ...inTurn(4, [1, 2, 3, 4])]), 'turn')
  expect(alone).toBeLessThan(0.5)
  expect(four / alone).toBeLessThan(1.01)
})

it('a newcomer does not have the vote as soon as the calls of those who know something are over', () => {
  const known = says('known', 6, { ageMs: 20 * HOUR_MS, isOver: true })
  const shares = sharesOf([known, says('new-1', 0, { newcomer: 1 }), says('new-2', 0, { newcomer: 1 })])
  // Limited by the cap of a share.
  expect(shares['known']).toBe(0.5)
})

it('whose call is over has what it knows beyond those whose call is open', () => {
  const shares = sharesOf([
    says('over', 6, { isOver: true, newcomer: 1e-9 }),
    says('open-1', 1, { newcomer: 1e-9 }),
    says('open-2', 2, { newcomer: 1e-9 }),
  ])
  // The weights are 3 (6 minus 1 and 2), 1 and 2.
  expect(shares['over']).toBeCloseTo(0.5, 6)
  expect(shares['open-1']).toBeCloseTo(1 / 6, 6)
})

it('where nobody has an open call all count by what they know, together as one', () => {
  const shares = sharesOf([
    says('over-1', 3, { isOver: true, newcomer: 1e-9 }),
    says('over-2', 2, { isOver: true, newcomer: 1e-9 }),
    says('over-3', 1, { isOver: true, newcomer: 1e-9 }),
  ])
  expect(shares['over-1']).toBeCloseTo(1 / 2, 6)
  expect(shares['over-2']).toBeCloseTo(1 / 3, 6)
})
