import { type Timestamp, contributorId, timestampOf } from '../shared/brand.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NOW, stateAfter } from '../../../test/given.fixture.ts'
import { DEFAULT_CONFIGURATION } from '../config/validate.ts'
import type { NewEvent, NewPayload } from '../events/catalogue.ts'
import { authorKey } from '../shared/author-key.ts'
import { DAY_MS, timestampAt } from '../shared/time.ts'
import { reputationAt } from './author-reputation.ts'
import { ContradictionError } from '../shared/assert.ts'
import { withItsCall } from './calls.fixture.ts'
import { NEWCOMER } from './contribution.ts'
import { contributionsIn } from './evolve.ts'
import { tallyWithin, type Outcomes } from './outcomes.ts'

const rules = { producer_k: 20, producer_window_days: 90 }

interface Case {
  readonly hit: boolean | null
  readonly rate: number
  readonly ts?: string
}

const resolved = (
  { hit, rate, ts = NOW }: Case,
  changes: Partial<NewPayload<'attribution.resolved.v1'>> = {},
): NewEvent => ({
  type: 'attribution.resolved.v1',
  source: 'learning',
  ts: timestampOf(ts),
  payload: {
    call_id: 'c',
    signal_ids: ['s'],
    producer_id: 'p1',
    contributor_id: null,
    symbol: 'BTC',
    // A neutral call hits or misses. Other calls are graded.
    direction: 'neutral',
    resolved_by: 'horizon',
    position_id: null,
    ref_price: 100,
    exit_price: hit === false ? 101 : 100,
    return_pct: hit === false ? 0.01 : 0,
    band_pct: 0.0022,
    hit,
    base_rate: hit === null ? null : rate,
    void_reason: hit === null ? 'no_bar' : null,
    horizon: '24h',
    opened_at: ts,
    due_at: ts,
    probability: 0.8,
    ...changes,
  },
})

const feedback = (outcome: 'profit' | 'loss', counted = true): NewEvent => ({
  type: 'learning.feedback.v1',
  source: 'api',
  payload: {
    producer_id: 'p1',
    signal_id: 's',
    outcome,
    pnl: null,
    note: null,
    matched: true,
    signal_type: 'signal.ta.v1',
    score: null,
    submitted_by: 'api',
    contributor_id: null,
    counted,
    weight: 0.25,
  },
})

const opened = (event: NewEvent): readonly NewEvent[] =>
  event.type === 'attribution.resolved.v1' && 'call_id' in event.payload ? withItsCall(event) : [event]

const outcomesAfter = (events: readonly NewEvent[]): Outcomes =>
  stateAfter(events.flatMap(opened)).reputation.outcomes

const karmaAfter = (events: readonly NewEvent[], asOf = NOW): number =>
  reputationAt(outcomesAfter(events), authorKey(null, 'p1'), asOf, rules)

const cases = (count: number, hits: number, rate: number): readonly Case[] =>
  Array.from({ length: count }, (_, index) => ({ hit: index < hits, rate }))

const karmaOfCases = (all: readonly Case[]): number => karmaAfter(all.map((one) => resolved(one)))

describe('the karma of an author', () => {
  it.each([
    [40, 24, 0.4, 61.111111111],
    [40, 16, 0.4, 50],
    [40, 12, 0.4, 41.666666667],
    [40, 30, 0.5, 66.666666667],
    [40, 10, 0.5, 33.333333333],
    [2, 2, 0.4, 54.545454545],
    [0, 0, 0.4, 50],
  ])('of %i calls, %i hits, at a base rate of %f is %f', (count, hits, rate, karma) => {
    expect(karmaOfCases(cases(count, hits, rate))).toBeCloseTo(karma, 8)
  })

  it('is mirrored by mirrored outcomes and base rates, and never leaves 0 to 100', () => {
    const outcome = fc.record({ hit: fc.boolean(), rate: fc.double({ min: 0.01, max: 0.99, noNaN: true }) })
    fc.assert(
      fc.property(fc.array(outcome, { maxLength: 60 }), (all) => {
        const karma = karmaOfCases(all)
        const mirrored = karmaOfCases(all.map(({ hit, rate }) => ({ hit: !hit, rate: 1 - rate })))
        expect(karma + mirrored).toBeCloseTo(100, 6)
        expect(karma).toBeGreaterThanOrEqual(0)
        expect(karma).toBeLessThanOrEqual(100)
      }),
      { numRuns: 60 },
    )
  })

  it('is 50 in expectation for calls that hit as often as any', () => {
    let state = 42
    const chance = (): number => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return state / 2 ** 32
    }
    const lives = Array.from({ length: 150 }, () => {
      const rate = 0.3 + 0.4 * chance()
      return karmaOfCases(Array.from({ length: 100 }, () => ({ hit: chance() < rate, rate })))
    })
    const mean = lives.reduce((sum, karma) => sum + karma, 0) / lives.length
    expect(Math.abs(mean - 50)).toBeLessThan(1.5)
  })

  it('grades calls that name a direction by how far the price went, against what its drift gave to all', () => {
    const graded = (direction: 'bullish' | 'bearish', moved: number): NewEvent => {
      const went = direction === 'bullish' ? moved : -moved
      return resolved(
        { hit: went > 0.0022, rate: 0.4 },
        {
          direction,
          return_pct: moved,
          exit_price: 100 + 100 * moved,
        },
      )
    }
    const karmaOf = (...moves: readonly (readonly ['bullish' | 'bearish', number])[]) =>
      karmaAfter(moves.map(([direction, moved]) => graded(direction, moved)))
    const always = (direction: 'bullish' | 'bearish', moved: number, count: number) =>
      karmaOf(...Array.from({ length: count }, () => [direction, moved] as const))
    expect(
      karmaOf(
        ['bullish', 0.01],
        ['bullish', 0.0011],
        ['bullish', -0.00055],
        ['bearish', -0.01],
        ['bearish', 0.01],
      ),
    ).toBeCloseTo(52.351123262, 8)
    // Half of the band in the right direction, and in the wrong one. Neither is a hit.
    expect(always('bullish', 0.0011, 40)).toBeCloseTo(66.666666667, 8)
    expect(always('bullish', -0.0011, 40)).toBeCloseTo(33.333333333, 8)
    expect(always('bearish', 0.01, 30)).toBeCloseTo(20.0, 8)
  })

  it('gives ever less for what a market does anyway', () => {
    const both = ['up', 'down'].flatMap((producer_id) =>
      Array.from({ length: 30 }, () =>
        resolved(
          { hit: producer_id === 'up', rate: 0.4 },
          {
            producer_id,
            direction: producer_id === 'up' ? 'bullish' : 'bearish',
            return_pct: 0.01,
            exit_price: 101,
          },
        ),
      ),
    )
    const known = outcomesAfter(both)
    const newest = outcomesAfter([...both, ...both])
    const surplusOf = (outcomes: Outcomes) => tallyWithin(outcomes, authorKey(null, 'up'), NOW, 90).surplus
    // If all n moves before were up, "up" gains 5 / (10 + n).
    expect(surplusOf(known)).toBeCloseTo(7.122873925, 9)
    expect(surplusOf(newest) - surplusOf(known)).toBeCloseTo(1.794132371, 9)
  })

  it('counts what the market did not answer for nothing', () => {
    expect(karmaAfter([resolved({ hit: null, rate: 0.4 })])).toBe(50)
  })

  it('forgets by UTC days', () => {
    const asOf = (days: number): Timestamp => timestampAt(Date.parse(NOW) + days * DAY_MS)
    const events = [resolved({ hit: true, rate: 0.4 })]
    expect(karmaAfter(events, asOf(89))).toBeGreaterThan(50)
    expect(karmaAfter(events, asOf(90))).toBe(50)
  })

  it('keeps as many days as were asked for', () => {
    const dayAt = (index: number): Timestamp => timestampAt(Date.parse(NOW) + index * DAY_MS)
    const events = Array.from({ length: 200 }, (_, index) =>
      resolved({ hit: true, rate: 0.4, ts: dayAt(index) }),
    )
    const outcomes = outcomesAfter(events)
    expect(outcomes.byAuthor.get(authorKey(null, 'p1'))).toHaveLength(90 * 9)
    expect(tallyWithin(outcomes, authorKey(null, 'p1'), dayAt(199), 90)).toMatchObject({
      resolved: 90,
      hits: 90,
    })
    expect(tallyWithin(outcomes, authorKey(null, 'p1'), dayAt(199), 7)).toMatchObject({ resolved: 7 })
  })

  it('takes feedback as a quarter of an outcome at even odds', () => {
    expect(karmaAfter([feedback('profit')])).toBeCloseTo(50 + (50 * 0.25) / 20.25, 9)
    expect(karmaAfter([feedback('loss')])).toBeCloseTo(50 - (50 * 0.25) / 20.25, 9)
    expect(karmaAfter([feedback('profit', false)])).toBe(50)
  })

  it('by feedback alone gives no vote, and so no money', () => {
    const daily = Array.from({ length: 60 }, (_, index) => ({
      ...feedback(index < 40 ? 'profit' : 'loss'),
      ts: timestampAt(Date.parse(NOW) + index * DAY_MS),
    }))
    for (const events of [daily.slice(0, 40), daily.slice(40)]) {
      const { reputation } = stateAfter(events)
      const contributions = contributionsIn(reputation, DEFAULT_CONFIGURATION.karma.influence)
      expect(contributions.get(authorKey(null, 'p1')) ?? NEWCOMER).toEqual(NEWCOMER)
    }
  })

  it('keeps a contributor and a producer of the same name apart', () => {
    const outcomes = outcomesAfter([
      resolved({ hit: true, rate: 0.4 }, { contributor_id: 'c1', producer_id: 'p1' }),
      resolved({ hit: false, rate: 0.4 }),
    ])
    expect(reputationAt(outcomes, authorKey(null, 'p1'), NOW, rules)).toBe(50 - 50 / 21)
    expect(reputationAt(outcomes, authorKey(null, 'nobody'), NOW, rules)).toBe(50)
    expect(reputationAt(outcomes, authorKey(contributorId('c1'), 'p1'), NOW, rules)).toBeGreaterThan(50)
  })

  it('is not changed by what is left of damaged events', () => {
    const left = (type: string): NewEvent => ({ type, source: 'x', payload: {} }) as unknown as NewEvent
    expect(karmaAfter([left('learning.feedback.v1')])).toBe(50)
    // A replay ignores such an event.
    expect(() => karmaAfter([left('attribution.resolved.v1')])).toThrow(ContradictionError)
  })
})
