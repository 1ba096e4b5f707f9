import { signalId } from '../shared/brand.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { creditsOf } from './decision.ts'
import { cycleOf, regimeSignals } from './scenario.fixture.ts'
import { signalsOf, views } from './views.fixture.ts'

describe('creditsOf', () => {
  it('adds up to exactly one and names only inputs that spoke for the side taken', () => {
    const [high, low] = [1, -1] as const
    fc.assert(
      fc.property(views, fc.constantFrom(high, low), (all, mirror) => {
        const signals = [...signalsOf(all, mirror), ...regimeSignals(mirror === 1 ? 'BULL' : 'BEAR')]
        for (const { credits, conviction } of cycleOf({ signals }).intents) {
          const supporters = conviction.inputs.filter(
            ({ contribution }) => contribution * conviction.side > 0,
          )
          expect(credits.map((credit) => credit.signalId)).toStrictEqual(
            supporters.map((input) => input.signalId),
          )
          expect(credits.reduce((sum, { weightBillionths }) => sum + weightBillionths, 0)).toBe(1e9)
          expect(credits.every(({ weightBillionths }) => weightBillionths >= 0)).toBe(true)
        }
      }),
      { numRuns: 100 },
    )
  })

  it('gives what rounding leaves to the largest, the first of equals', () => {
    const input = (id: string, contribution: number) => ({
      signalId: signalId(id),
      authorId: 'a',
      domain: 'social' as const,
      share: 1,
      quality: 1,
      evidence: 1,
      contribution,
    })
    const inputs = [input('a', 0.1), input('b', 0.1), input('c', 0.1), input('d', -0.2)]
    expect(creditsOf({ inputs, side: 1 }).map(({ weightBillionths }) => weightBillionths)).toStrictEqual([
      333333334, 333333333, 333333333,
    ])
    expect(creditsOf({ inputs, side: -1 })).toStrictEqual([{ signalId: 'd', weightBillionths: 1e9 }])
    expect(creditsOf({ inputs, side: 0 })).toStrictEqual([])
  })
})
