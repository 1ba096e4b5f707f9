import { beforeAll, describe, expect, it } from 'vitest'
import { playAuthorCalls } from '../../../test/author-calls.fixture.ts'
import { configured } from '../reputation/calls.fixture.ts'
import { contributorId, nodeId } from '../shared/brand.ts'
import { TradingScenario } from '../trading/trading.fixture.ts'
import { authorsView, viewAuthors } from './authors.ts'
import { contributionView, viewContribution, type JudgedCall } from './contribution.ts'

const DAYS = 40

const scenario = new TradingScenario()

beforeAll(() =>
  playAuthorCalls(
    {
      execute: (command) => scenario.do(command),
      now: () => Date.parse(scenario.now),
      wait: (ms) => scenario.wait(ms),
    },
    DAYS,
  ),
)

const keyOf = (node: string): string =>
  `contributor:${scenario.state.signals.contributors.idOfNode.get(nodeId(node)) ?? ''}`

const judgedIn = ({ log }: TradingScenario, author: string | null = null): readonly JudgedCall[] =>
  log
    .filter(({ type }) => type === 'attribution.resolved.v1' || type === 'attribution.measured.v1')
    .map((event) => event as unknown as JudgedCall)
    .filter(({ payload }) => author === null || `contributor:${payload.contributor_id}` === author)
    .toReversed()

const contextOf = ({ now, configuration }: TradingScenario) => ({ now, rules: configuration.karma })

describe('what an author adds', () => {
  const explained = (node: string) =>
    viewContribution(scenario.state, keyOf(node), judgedIn(scenario, keyOf(node)), contextOf(scenario))

  it('is nothing for somebody who made no call, with the widest interval', () => {
    const fresh = configured()
    const view = viewContribution(fresh.state, 'contributor:id of ann', [], contextOf(fresh))
    expect(contributionView.strict().parse(view)).toEqual(view)
    expect(view).toMatchObject({
      kind: 'contributor',
      id: 'id of ann',
      name: 'ann',
      edge: 0,
      edge_low: -1,
      edge_high: 1,
      borrowed: 0,
      own: 0,
      influence: 0,
      newcomer: 1,
      trust: 1,
      calls: 0,
      moves_with: [],
      newest_calls: [],
      days: [],
      calibration: [],
    })
  })

  it('is an edge inside its interval, and the sum of what its calls added', () => {
    const ann = explained('ann')
    expect(contributionView.strict().parse(ann)).toEqual(ann)
    expect([ann.calls, ann.outcomes]).toEqual([DAYS, DAYS])
    expect(ann.edge_low).toBeGreaterThan(0)
    expect(ann.edge_low).toBeLessThan(ann.edge)
    expect(ann.edge).toBeLessThan(ann.edge_high)
    expect(ann.own).toBeGreaterThan(0)
    expect(ann.trust).toBeCloseTo(ann.influence + ann.newcomer, 12)
    expect(ann.days.at(-1)?.total).toBeCloseTo(
      ann.days.reduce((sum, { added }) => sum + added, 0),
      9,
    )
    expect(ann.days.reduce((sum, { outcomes }) => sum + outcomes, 0)).toBe(DAYS)
  })

  it('shows its newest calls with what each added', () => {
    const { newest_calls: calls } = explained('ann')
    expect(calls).toHaveLength(20)
    for (const { direction, return_pct: moved, added } of calls) {
      expect(Math.sign(added)).toBe(Math.sign(moved ?? 0) * (direction === 'bullish' ? 1 : -1))
      expect(Math.abs(added)).toBeLessThanOrEqual(2)
    }
    const times = calls.map(({ at }) => at)
    expect(times).toEqual(times.toSorted().toReversed())
  })

  it('compares what was stated with what happened', () => {
    const { calibration } = explained('ann')
    const verdicts = judgedIn(scenario, keyOf('ann')).map(({ payload }) => payload)
    expect(calibration.reduce((sum, { calls }) => sum + calls, 0)).toBe(DAYS)
    expect(calibration.reduce((sum, { calls, hit_rate }) => sum + calls * hit_rate, 0)).toBeCloseTo(
      verdicts.filter(({ hit }) => hit === true).length,
      9,
    )
    for (const { from, to, stated } of calibration) {
      expect(stated).toBeGreaterThanOrEqual(from)
      expect(stated).toBeLessThanOrEqual(to)
    }
  })

  it('names whom it moves with, from both sides', () => {
    const [ann, bob] = [explained('ann'), explained('bob')]
    expect(bob.group).toBe(keyOf('ann'))
    expect(bob.own).toBeLessThan(ann.own / 2)
    expect(ann.borrowed).toBe(0)
    expect(bob.borrowed).toBeGreaterThan(0.5)
    expect(bob.moves_with).toMatchObject([
      { author: keyOf('ann'), kind: 'contributor', name: 'ann', speaks: 'before', same_group: true },
    ])
    expect(ann.moves_with).toMatchObject([{ author: keyOf('bob'), speaks: 'after', same_group: true }])
    expect(ann.moves_with[0]?.overlap).toBe(bob.moves_with[0]?.overlap)
    expect(explained('carl')).toMatchObject({ moves_with: [], group: null })
  })

  it('leaves out void calls, and those decided by a trade', () => {
    const [call] = judgedIn(scenario, keyOf('ann'))
    if (call?.type !== 'attribution.resolved.v1') throw new Error('the call was resolved by its horizon')
    const of = (changes: Partial<typeof call.payload>) =>
      viewContribution(
        scenario.state,
        keyOf('ann'),
        [{ ...call, payload: { ...call.payload, ...changes } }],
        contextOf(scenario),
      )
    expect(of({}).newest_calls).toHaveLength(1)
    expect(of({ hit: null, return_pct: null })).toMatchObject({ newest_calls: [], calibration: [] })
    const traded = of({ resolved_by: 'trade' })
    expect([traded.newest_calls.length, traded.calibration.length]).toEqual([0, 1])
  })

  it('keeps the name of a contributor who was removed, without a score', () => {
    scenario.do({
      kind: 'remove-contributor',
      id: contributorId(keyOf('carl').slice('contributor:'.length)),
      surface: 'api',
      isOperator: true,
    })
    const { authors } = viewAuthors(scenario.state, [], 100, contextOf(scenario))
    expect(authors.find(({ name }) => name === 'carl')).toMatchObject({ score: null, calls: DAYS })
  })
})

describe('all authors', () => {
  const all = (limit: number) => viewAuthors(scenario.state, judgedIn(scenario), limit, contextOf(scenario))

  it('are listed by influence, then by edge, with those who move together', () => {
    const view = all(100)
    expect(authorsView.strict().parse(view)).toEqual(view)
    expect([view.total, view.authors.length]).toEqual([4, 4])
    expect(view.authors[0]?.author).toBe(keyOf('ann'))
    for (const [index, one] of view.authors.entries()) {
      const next = view.authors[index + 1]
      if (next === undefined) continue
      expect(one.influence).toBeGreaterThanOrEqual(next.influence)
      if (one.influence === next.influence) expect(one.edge).toBeGreaterThanOrEqual(next.edge)
    }
    expect(view.authors.at(-1)).toMatchObject({ kind: 'producer', name: 'technical-analysis', score: null })
    expect(view.authors.at(-1)?.edge_high).toBeLessThan(0)
    expect(view.groups).toMatchObject([
      { leader: { author: keyOf('ann'), name: 'ann' }, size: 2, members: [{ author: keyOf('bob') }] },
    ])
    expect(view.calibration.reduce((sum, { calls }) => sum + calls, 0)).toBe(4 * DAYS)
    expect(view.days.reduce((sum, { outcomes }) => sum + outcomes, 0)).toBe(4 * DAYS)
  })

  it('are no more than asked for, and count all', () => {
    expect(all(1)).toMatchObject({ total: 4, authors: [{ author: keyOf('ann') }] })
  })

  it('are none before the first call', () => {
    const fresh = configured()
    expect(viewAuthors(fresh.state, [], 100, contextOf(fresh))).toEqual({
      total: 0,
      authors: [],
      groups: [],
      days: [],
      calibration: [],
      as_of: fresh.now,
    })
  })
})
