import { timestampOf } from '../shared/brand.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { testContext } from '../../../test/given.fixture.ts'
import { DEFAULT_CONFIGURATION } from '../config/validate.ts'
import type { Stamped } from '../log/event.ts'
import { run } from '../run.ts'
import { INITIAL_STATE, type State } from '../state.ts'
import { decodeState, encodeState } from '../state-codec.ts'
import { DOMAINS } from '../shared/domains.ts'
import { DAY_MS } from '../shared/time.ts'
import { closesAfter, CLOSES_KEPT } from './trades.ts'
import { isLearningDue, weightsInForce } from './learning.ts'
import { at, BEGIN_MS, closed, folded, lately, learnAt, type Run, type Trade } from './learning.fixture.ts'

const typesOf = (events: readonly Stamped[]): readonly string[] => events.map(({ type }) => type)

/** `curator` is right, `social` is wrong, `technical` is always neutral. */
const folding = (won: boolean, direction: 'long' | 'short' = 'long'): Trade => {
  const up = won === (direction === 'long')
  return {
    won,
    direction,
    scores: { curator: up ? 0.9 : 0.3, social: up ? 0.2 : 0.7, events: 0.6, technical: 0.5 },
  }
}

const history = (first: number, days: readonly number[]): State => {
  const begun = closed(INITIAL_STATE, first, folding(true))
  return days.reduce(
    (state, day, index) => closed(state, day, folding(index % 2 === 0, index % 3 === 0 ? 'short' : 'long')),
    begun,
  )
}

describe('a learning run', () => {
  it('changes nothing before there is a history, and says so', () => {
    const { events, run: first } = learnAt(INITIAL_STATE, 0)
    expect(typesOf(events)).toEqual(['learning.weight_adjustment.v1', 'learning.report.v1'])
    expect(first).toMatchObject({
      cycle_type: 'weekly',
      trigger: 'cli',
      reason: 'cold_start_no_history',
      applied: false,
      observations: 0,
      step: 0,
      weights_version: 0,
      window_mean_return: null,
      new_weights: DEFAULT_CONFIGURATION.weights,
    })
  })

  it('changes nothing in the first 30 days', () => {
    const young = history(0, lately(29, 40))
    expect(learnAt(young, 29.9).run).toMatchObject({
      reason: 'cold_start_baseline',
      applied: false,
      step: 0,
      observations: 41,
    })
    expect(learnAt(young, 30).run.reason).not.toBe('cold_start_baseline')
  })

  it('needs 20 closes in 30 days', () => {
    expect(learnAt(history(0, lately(60, 19)), 60).run).toMatchObject({
      reason: 'insufficient_data',
      applied: false,
      observations: 19,
      step: 0,
    })
    expect(learnAt(history(0, lately(60, 20)), 60).run).toMatchObject({
      reason: 'adjusted',
      observations: 20,
      step: 0.01,
    })
  })

  it('credits domains that were right for either side, in half steps up to 90 days', () => {
    const { events, state, run: made } = learnAt(history(0, lately(80, 40)), 80)
    expect(typesOf(events)).toEqual([
      'learning.weight_adjustment.v1',
      'learning.report.v1',
      'alert.weights_adjusted',
    ])
    expect(made).toMatchObject({ applied: true, reason: 'adjusted', step: 0.01, weights_version: 1 })
    expect(made.correlations['curator']).toBeGreaterThan(0.9)
    expect(made.correlations['social']).toBeLessThan(-0.9)
    // No signals in these domains, or only neutral ones.
    expect(made.correlations).toMatchObject({ onchain: 0, tradfi: 0, technical: 0 })
    expect(made.deltas['curator']).toBeGreaterThan(0.009)
    expect(made.deltas['social']).toBeLessThan(-0.009)
    const sum = Object.values(made.new_weights).reduce((total, one) => total + Math.round(one * 1e9), 0)
    expect(sum).toBe(1e9)
    expect(weightsInForce(state.brain.learning, DEFAULT_CONFIGURATION)).toEqual({
      weights: made.new_weights,
      version: 1,
    })
    expect(events[1]?.payload).toMatchObject({
      attributions: 80,
      weight_adjustment: { applied: true, reason: 'adjusted', observations: 40 },
      producer_scores: { 'technical-analysis': 50 },
    })
    expect(events[2]?.payload).toMatchObject({ urgency: 'low', reason: 'adjusted', repeat: 0 })
    expect(learnAt(history(0, lately(90, 40)), 90).run).toMatchObject({ step: 0.02 })
  })

  it('does not believe fewer than ten pairs', () => {
    const rarely = lately(60, 30).reduce(
      (state, day, index) =>
        closed(state, day, index < 9 ? folding(index % 2 === 0) : { won: index % 2 === 0 }),
      closed(INITIAL_STATE, 0, { won: true }),
    )
    expect(learnAt(rarely, 60).run).toMatchObject({
      reason: 'unchanged',
      applied: false,
      correlations: { curator: 0, social: 0 },
    })
  })

  it('goes on from what it learned', () => {
    const first = learnAt(history(0, lately(95, 40)), 95)
    const second = learnAt(first.state, 96)
    expect(second.run.previous_weights).toEqual(first.run.new_weights)
    expect(second.run).toMatchObject({ weights_version: 2, reason: 'adjusted' })
    expect(second.run.new_weights['curator']).toBeGreaterThan(0.285)
  })

  it('goes back towards the configured weights when three runs in a row found a lower return', () => {
    let { state } = learnAt(history(0, lately(100, 40)), 100)
    const learnedFirst = state.brain.learning.learned?.weights
    const reasons: string[] = []
    for (const day of [101, 102, 103]) {
      state = closed(state, day - 0.5, { ...folding(false), netReturn: -0.1 })
      const next = learnAt(state, day)
      reasons.push(next.run.reason)
      state = next.state
    }
    expect(reasons).toEqual(['adjusted', 'adjusted', 'reverted'])
    const { previous_weights: before, new_weights: after } = learnAt(state, 104).run
    expect(learnedFirst).toBeDefined()
    const distance = (weights: Readonly<Record<string, number>>): number =>
      Math.abs((weights['curator'] ?? 0) - DEFAULT_CONFIGURATION.weights.curator)
    // The mean did not fall again, so learning continues.
    expect(distance(after)).toBeGreaterThanOrEqual(distance(before))
    expect(state.brain.learning.lastRun).toMatchObject({ falls: 3 })
  })
})

describe('whatever happened', () => {
  const trade = fc.record({
    won: fc.boolean(),
    direction: fc.constantFrom('long' as const, 'short' as const),
    scores: fc.dictionary(fc.constantFrom(...DOMAINS), fc.double({ min: 0, max: 1, noNaN: true })),
    netReturn: fc.double({ min: -0.3, max: 0.3, noNaN: true }),
  })

  it('weights add up to exactly 1, keep to their bounds and their step, and wait for evidence', () => {
    fc.assert(
      fc.property(
        fc.array(trade, { maxLength: 60 }),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 }),
        (trades, pauses) => {
          let state = trades.reduce((known, one, index) => closed(known, index, one), INITIAL_STATE)
          let day = trades.length
          for (const pause of pauses) {
            day += pause
            const next = learnAt(state, day)
            state = next.state
            expectSound(next.run, day)
          }
        },
      ),
      { numRuns: 60 },
    )
  })

  /** Checks a run. The first close was on day 0. */
  const expectSound = ({ new_weights: weights, deltas, observations, applied, step }: Run, day: number) => {
    const units = Object.values(weights).map((weight) => Math.round(weight * 1e9))
    expect(units.reduce((sum, one) => sum + one, 0)).toBe(1e9)
    for (const unit of units) {
      expect(unit).toBeGreaterThanOrEqual(0.05e9)
      expect(unit).toBeLessThanOrEqual(0.4e9)
    }
    const stepMax = day < 90 ? 0.01 : 0.02
    for (const delta of Object.values(deltas)) expect(Math.abs(delta)).toBeLessThanOrEqual(stepMax)
    if (day >= 30 && observations >= 20) return
    expect([applied, step]).toEqual([false, 0])
    expect(Object.values(deltas).every((delta) => delta === 0)).toBe(true)
  }
})

describe('learned weights', () => {
  const { state } = learnAt(history(0, lately(95, 40)), 95)
  const { weights } = DEFAULT_CONFIGURATION
  const other = { ...weights, curator: 0.2, onchain: 0.3 }

  it('give way to newly configured ones', () => {
    expect(weightsInForce(state.brain.learning, { ...DEFAULT_CONFIGURATION, weights: other })).toEqual({
      weights: other,
      version: 0,
    })
    const changed = { ...DEFAULT_CONFIGURATION, weights: other }
    expect(learnAt(state, 96, changed).run).toMatchObject({ previous_weights: other, weights_version: 2 })
  })

  it('do not come back when the old ones are configured again', () => {
    const change = { changed: ['weights.curator'], config_hash: 'h' }
    const after = folded(state, 'system.config_changed.v1', change, at(96))
    expect(weightsInForce(after.brain.learning, DEFAULT_CONFIGURATION)).toEqual({ weights, version: 0 })
    const unrelated = folded(state, 'system.config_changed.v1', { ...change, changed: ['risk.x'] }, at(96))
    expect(weightsInForce(unrelated.brain.learning, DEFAULT_CONFIGURATION).version).toBe(1)
  })

  it('end with the first cycle that does not use them', () => {
    const cycle = { cycle_id: 'c', started_at: at(96), stale_cycles: 0, signals_used: {} }
    const used = folded(state, 'brain.cycle.v1', { ...cycle, weights_version: 1 }, at(96))
    expect(weightsInForce(used.brain.learning, DEFAULT_CONFIGURATION).version).toBe(1)
    const unused = folded(state, 'brain.cycle.v1', { ...cycle, weights_version: 0 }, at(96))
    expect(weightsInForce(unused.brain.learning, DEFAULT_CONFIGURATION).version).toBe(0)
    // Version numbers are never reused.
    expect(learnAt(unused, 97).run.weights_version).toBe(2)
  })

  it('rest while learning is off', () => {
    const learning = { ...DEFAULT_CONFIGURATION.learning, enabled: false }
    const off = { ...DEFAULT_CONFIGURATION, learning }
    expect(weightsInForce(state.brain.learning, off)).toEqual({ weights, version: 0 })
    const context = testContext({ now: at(96), configuration: off })
    expect(run(state, { kind: 'run-learning', cause: { trigger: 'api' } }, context)).toMatchObject({
      status: 'refused',
      refusal: { code: 'learning.disabled' },
    })
  })

  it('survive a snapshot', () => {
    expect(decodeState(encodeState(state))).toEqual(state)
  })

  it('are what the brain uses, and it says which', () => {
    const result = run(
      state,
      { kind: 'run-cycle', cycleId: 'c1', trigger: 'schedule' },
      testContext({ now: at(96) }),
    )
    if (result.status === 'refused') throw new Error('refused')
    const cycle = result.events.find(({ type }) => type === 'brain.cycle.v1')
    expect(cycle?.payload).toMatchObject({
      weights_version: 1,
      weights: state.brain.learning.learned?.weights,
    })
  })
})

describe('what is remembered of closes', () => {
  it('is bounded, and the newest stay', () => {
    const many = Array.from({ length: CLOSES_KEPT + 250 }, (_, index) => index)
    const after = many.reduce((state, index) => closed(state, index / 100, { won: true }), INITIAL_STATE)
    const kept = closesAfter(after.brain.learning.closes, timestampOf(''))
    expect(kept.length).toBeGreaterThanOrEqual(CLOSES_KEPT)
    expect(kept.length).toBeLessThanOrEqual(CLOSES_KEPT + 100)
    expect(kept.at(-1)?.at).toBe(at((CLOSES_KEPT + 249) / 100))
    expect(closesAfter(after.brain.learning.closes, at(100))).toHaveLength(249)
  })
})

describe('the next run', () => {
  it('is due when a moment of the grid has passed since the last, or since the log began', () => {
    const begun = folded(INITIAL_STATE, 'system.started.v1', { node_id: 'n', public_key: 'k' }, at(3))
    expect(isLearningDue(INITIAL_STATE.brain.learning, BEGIN_MS)).toBe(false)
    expect(isLearningDue(begun.brain.learning, BEGIN_MS + 3 * DAY_MS)).toBe(false)
    expect(isLearningDue(begun.brain.learning, BEGIN_MS + 7 * DAY_MS)).toBe(true)
    const ran = learnAt(begun, 7).state
    expect(isLearningDue(ran.brain.learning, BEGIN_MS + 7 * DAY_MS)).toBe(false)
    expect(isLearningDue(ran.brain.learning, BEGIN_MS + 14 * DAY_MS)).toBe(true)
  })
})
