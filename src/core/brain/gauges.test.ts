import { canonicalSymbol } from '../shared/symbol.ts'
import { describe, expect, it } from 'vitest'
import { freshSignals, signalsBySymbol } from './fresh-signals.ts'
import { gaugesOf } from './regime.ts'
import {
  builtin,
  HOUR_MS,
  NOW_MS,
  registered,
  RULES,
  signalOf,
  type BrainSignal,
  authorsOf,
} from './scenario.fixture.ts'
import type { Author } from './authors.ts'

const gauges = (...signals: readonly BrainSignal[]) =>
  gaugesOf(
    freshSignals(
      signalsBySymbol(authorsOf(signals)).get(canonicalSymbol('ETH')),
      { asOfMs: NOW_MS },
      RULES.brain.quality_seconds,
    ),
  )

const funding = (value: number, author: Author, ageMs = 0) =>
  signalOf('tradfi', { funding_annualized: value }, { author, ageMs })

describe('gaugesOf', () => {
  it('reads each gauge from its own type', () => {
    expect(
      gauges(
        signalOf('ta', { rsi_14: 40, fear_greed: 1 }),
        signalOf('tradfi', { funding_annualized: 7, basis_annualized: 3, rsi_14: 1 }),
        signalOf('sentiment', { fear_greed: 30 }),
      ),
    ).toStrictEqual({ rsi: 40, funding: 7, basis: 3, fearGreed: 30 })
    expect(gauges()).toStrictEqual({ rsi: null, funding: null, basis: null, fearGreed: null })
  })

  it('believes the built-in producer, and the median of registered ones only without it', () => {
    const unknown = [-90, 10, 12, 14].map((value, index) => funding(value, registered(`p${index}`)))
    expect(gauges(...unknown).funding).toBe(11)
    expect(gauges(...unknown.slice(1)).funding).toBe(12)
    expect(gauges(...unknown, funding(20, builtin('house'))).funding).toBe(20)
  })

  it('does not hear the stale and the quarantined', () => {
    expect(gauges(funding(20, builtin('house'), 24 * HOUR_MS)).funding).toBeNull()
    expect(gauges(funding(20, builtin('house', { quarantined: true }))).funding).toBeNull()
    expect(gauges(funding(20, builtin('house'), 23 * HOUR_MS)).funding).toBe(20)
  })
})
