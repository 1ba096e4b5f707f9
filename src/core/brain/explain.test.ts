import { describe, expect, it } from 'vitest'
import { explain } from './explain.ts'
import { cycleOf, firstOf, regimeSignals, RULES, signalOf } from './scenario.contract.ts'

describe('explain', () => {
  it('says for each domain what would have been without it, as a cycle without it does', () => {
    const signals = [
      signalOf('ta', { rsi_14: 66 }),
      signalOf('social', { score: 2 }),
      signalOf('tradfi', { funding_annualized: -2, basis_annualized: 4 }),
      ...regimeSignals('BEAR'),
    ]
    const whole = firstOf(cycleOf({ signals }))
    const explanations = explain(whole, RULES.brain)
    expect(explanations.map(({ domain }) => domain)).toStrictEqual(['tradfi', 'social', 'technical'])
    expect(explanations.reduce((sum, { contribution }) => sum + contribution, 0)).toBeCloseTo(whole.value, 8)
    const kinds: Readonly<Record<string, string>> = { tradfi: 'tradfi', social: 'social', technical: 'ta' }
    for (const { domain, valueWithout } of explanations) {
      const others = signals.filter(({ id }) => id !== kinds[domain])
      expect(valueWithout).toBeCloseTo(firstOf(cycleOf({ signals: others })).value, 8)
    }
  })

  it('finds the domain that turned the direction', () => {
    const signals = [
      signalOf('ta', { rsi_14: 75 }),
      signalOf('social', { score: 4 }),
      ...regimeSignals('BULL'),
    ]
    const whole = firstOf(cycleOf({ signals }))
    expect(whole.direction).toBe('short')
    expect(explain(whole, RULES.brain)).toMatchObject([
      { domain: 'social', valueWithout: -1, directionWithout: 'short', effectiveConvictionWithout: 85 },
      { domain: 'technical', valueWithout: 0.4, directionWithout: 'long', effectiveConvictionWithout: 68 },
    ])
  })

  it('has nothing to say without data, and silence without the only domain', () => {
    expect(explain(firstOf(cycleOf()), RULES.brain)).toStrictEqual([])
    const only = firstOf(cycleOf({ signals: [signalOf('social', { score: 5 })] }))
    expect(explain(only, RULES.brain)).toStrictEqual([
      {
        domain: 'social',
        contribution: 0.5,
        valueWithout: 0,
        directionWithout: 'neutral',
        effectiveConvictionWithout: 50,
      },
    ])
  })
})
