import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CycleResult } from './cycle.ts'
import { detectRegime, regimeChange, type Regime } from './regime.ts'
import { cycleOf, regimeSignals, RULES } from './scenario.fixture.ts'

const regimes = fc.constantFrom<Regime>('BULL', 'BEAR', 'CRISIS', 'TRANSITION')

describe('regime events', () => {
  it('are written exactly when the folded regime is unknown or differs', () => {
    const gauge = fc.option(fc.integer({ min: -20, max: 90 }))
    const gauges = fc.record({ rsi: gauge, funding: gauge, basis: gauge, fearGreed: gauge })
    fc.assert(
      fc.property(gauges, fc.option(regimes), (values, before) => {
        const reading = detectRegime(values, RULES.brain.regime)
        const change = regimeChange(before, reading)
        expect(change !== null).toBe(before === null || before !== reading.regime)
        if (change !== null) expect(change).toStrictEqual({ ...reading, previous: before })
      }),
    )
  })

  it('follow one another through cycles', () => {
    const steps: readonly Regime[] = ['BULL', 'BULL', 'CRISIS', 'TRANSITION', 'TRANSITION', 'BEAR']
    let folded: Regime | null = null
    const written: (readonly [Regime | null, Regime])[] = []
    for (const step of steps) {
      const change: CycleResult['regimeChange'] = cycleOf({
        signals: regimeSignals(step),
        regimeBefore: folded,
      }).regimeChange
      if (change === null) continue
      written.push([change.previous, change.regime])
      folded = change.regime
    }
    expect(written).toStrictEqual([
      [null, 'BULL'],
      ['BULL', 'CRISIS'],
      ['CRISIS', 'TRANSITION'],
      ['TRANSITION', 'BEAR'],
    ])
  })

  it('begin with the first cycle, even without data', () => {
    expect(cycleOf().regimeChange).toMatchObject({
      previous: null,
      regime: 'TRANSITION',
      votes: { bull: 0, bear: 0, crisis: 0 },
    })
  })
})
