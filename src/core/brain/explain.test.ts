import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ContributorAuthor } from './authors.ts'
import type { CycleInputs } from './cycle.ts'
import { distanceOf, valueOf, whatIfs } from './explain.ts'
import { convictionPayload } from './payloads.ts'
import {
  builtin,
  curatorCall,
  cycleOf,
  contributor,
  firstOf,
  inputsOf,
  regimeSignals,
  RULES,
  signalOf,
  type BrainSignal,
} from './scenario.fixture.ts'
import { signalsOf, viewOf } from './views.fixture.ts'

const storedOf = (signals: readonly BrainSignal[]) =>
  convictionPayload(firstOf(cycleOf({ signals })), { cycleId: 'c', sha256Hex: () => '' })
const explained = (signals: readonly BrainSignal[], changes: Partial<CycleInputs> = {}) =>
  whatIfs(storedOf(signals), { ...inputsOf({ signals }), ...changes }, RULES)

const strong = [
  signalOf('social', { score: 9 }),
  signalOf('onchain', { price_momentum_24h: 12 }),
  signalOf('events', { headline_sentiment: 1, impact_score: 1 }),
  ...regimeSignals('BULL'),
]

describe('what would have changed a decision', () => {
  it('is what the brain really thinks without an author or a domain', () => {
    const venues = fc.constantFrom(builtin('one'), builtin('two'), builtin('three'))
    const view = fc
      .constantFrom('ta', 'orderbook', 'social', 'sentiment', 'aci', 'onchain', 'events', 'tradfi')
      .chain((kind) => viewOf(kind, venues))
    fc.assert(
      fc.property(fc.array(view, { minLength: 1, maxLength: 10 }), (views) => {
        const signals = signalsOf(views)
        for (const { change, subject, value } of explained(signals)) {
          if (change !== 'without_author') continue
          const rest = signals.filter(({ author }) => author.id !== subject)
          expect(value).toBeCloseTo(firstOf(cycleOf({ signals: rest })).value, 6)
        }
      }),
    )
  })

  it('names who made the difference', () => {
    const outcomes = explained(strong)
    expect(outcomes.filter(({ changes_decision }) => changes_decision).map(({ subject }) => subject)).toEqual(
      expect.arrayContaining(['social-producer', 'onchain-producer', 'events', 'CRISIS']),
    )
    expect(outcomes.find(({ subject }) => subject === 'CRISIS')).toMatchObject({ action: 'none' })
  })

  it('keeps a lone authorSignals under its cap', () => {
    const outcomes = explained([
      signalOf('curator', { direction: 'bearish', conviction: 10 }, { id: 'b', author: builtin('house') }),
      curatorCall('bullish', 10),
    ])
    expect(outcomes.find(({ subject }) => subject === 'house')).toMatchObject({ value: 0.5 })
  })

  it('follows the votes of newcomers and of authors whose call is over', () => {
    const known = (id: string, influence: number, newcomer: number): ContributorAuthor => ({
      ...contributor(id),
      worth: { influence, newcomer, groupId: null },
    })
    const signals = [
      curatorCall('bullish', 10, { id: 'a', author: known('ann', 0.9, 0.1) }),
      curatorCall('bearish', 10, { id: 'b', author: contributor('bob') }),
      curatorCall('bearish', 8, { id: 'c', author: contributor('cid') }),
      curatorCall('bearish', 9, { id: 'd', author: known('dan', 0.8, 0.2), isOver: true }),
    ]
    const outcomes = explained(signals).filter(({ change }) => change === 'without_author')
    expect(outcomes.map(({ subject }) => subject).toSorted()).toEqual(['ann', 'bob', 'cid', 'dan'])
    for (const { subject, value, direction } of outcomes) {
      const decided = firstOf(cycleOf({ signals: signals.filter(({ author }) => author.id !== subject) }))
      expect({ subject, value, direction }).toEqual({
        subject,
        value: decided.value,
        direction: decided.direction,
      })
    }
  })

  it('follows the kill switch, the holdings and the regime of the cycle', () => {
    const stopped = explained(strong, { killSwitchLevel: 2 })
    expect(stopped.every(({ action }) => action === 'none')).toBe(true)
    const bear = explained(strong).find(({ subject }) => subject === 'BEAR')
    const { decision, effectiveConviction } = firstOf(cycleOf({ signals: strong, regime: 'BEAR' }))
    expect(bear).toMatchObject({ action: decision.action, effective_conviction: effectiveConviction })
  })

  it('has nothing to say about a symbol of which nothing is known but the regime', () => {
    expect(explained([]).every(({ changes_decision, value }) => !changes_decision && value === 0)).toBe(true)
  })
})

describe('the distance to the next tier', () => {
  it('is what is missing of evidence', () => {
    const stored = storedOf([signalOf('social', { score: 1 })])
    expect(valueOf(stored)).toBe(0.1)
    expect(distanceOf(stored, RULES)).toEqual({ tier: 60, value_needed: 0.2, value_missing: 0.1 })
  })

  it('is infinite where the regime caps it, and none at the top', () => {
    const weak = [signalOf('social', { score: 9 }), signalOf('onchain', { price_momentum_24h: 9 })]
    expect(distanceOf(storedOf(weak), RULES)).toEqual({ tier: 90, value_needed: null, value_missing: null })
    const sure = [signalOf('social', { score: 10 }), ...regimeSignals('BULL')]
    expect(distanceOf(storedOf(sure), RULES)).toBeNull()
  })
})
