import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DEFAULT_CONFIGURATION } from '../../config/validate.ts'
import { timestampOf } from '../../shared/brand.ts'
import { usdFrom } from '../../shared/money.ts'
import { r9 } from '../../shared/numbers.ts'
import { DAY_MS, timestampAt } from '../../shared/time.ts'
import { kellyEstimate, type TradeReturn, type KellyRules } from './kelly.ts'

const RULES = DEFAULT_CONFIGURATION.risk.kelly
const NOW = timestampOf('2026-02-20T00:00:00.000Z')
/** Rules without discount, so that only the counts matter. */
const UNFADING = { ...RULES, half_life_trades: Infinity, half_life_days: Infinity }

const closeOf = (netReturn: number, daysAgo = 1): TradeReturn => ({
  at: timestampAt(Date.parse(NOW) - daysAgo * DAY_MS),
  net: usdFrom(netReturn * 100),
  netReturn,
})
const trades = (wins: number, losses: number, payoff: number): readonly TradeReturn[] => [
  ...Array.from({ length: wins }, () => closeOf(payoff / 100)),
  ...Array.from({ length: losses }, () => closeOf(-0.01)),
]
const stakeOf = (closes: readonly TradeReturn[], rules: KellyRules = RULES): number =>
  r9(kellyEstimate(closes, NOW, rules).stake)

describe('the Kelly stake', () => {
  it.each([
    ['no trade', trades(0, 0, 1), 0.0875, 0.0875],
    ['12 wins, then 18 losses, payoff 1.8', trades(12, 18, 1.8), 0.053588147, 0.029717667],
    ['15 wins, then 35 losses, payoff 1', trades(15, 35, 1), 0, 0],
    ['5 losses', trades(0, 5, 1), 0, 0],
    ['3 losses', trades(0, 3, 1), 0.02173913, 0.024011358],
    ['30 wins', trades(30, 0, 1), 0.335, 0.30840174],
  ])('after %s', (_, closes, unfading, fading) => {
    expect([stakeOf(closes, UNFADING), stakeOf(closes)]).toEqual([unfading, fading])
  })

  it('counts a close half after its half-life, by trades as by days', () => {
    const evidenceOf = (closes: readonly TradeReturn[], rules: Partial<KellyRules>): number =>
      r9(kellyEstimate(closes, NOW, { ...UNFADING, ...rules }).evidence)
    expect(evidenceOf([closeOf(-0.01, 30)], { half_life_days: 30 })).toBe(0.5)
    expect(evidenceOf([closeOf(-0.01), closeOf(0.01)], { half_life_trades: 1 })).toBe(1.5)
    expect(evidenceOf([closeOf(-0.01, 90)], { days: 90 })).toBe(1)
    expect(evidenceOf([closeOf(-0.01, 91)], { days: 90 })).toBe(0)
    expect(evidenceOf(trades(3, 3, 1), { trades: 4 })).toBe(4)
    expect(evidenceOf([closeOf(0)], {})).toBe(0)
  })

  it('does not count a close more when the clock was set back', () => {
    expect(kellyEstimate([closeOf(-0.01, -5)], NOW, RULES).evidence).toBe(1)
  })
})

const closes = fc.array(
  fc
    .record({
      netReturn: fc.double({ min: -1, max: 10, noNaN: true }),
      cents: fc.integer({ min: -1000, max: 1000 }),
      daysAgo: fc.double({ min: -1, max: 400, noNaN: true }),
    })
    .map(({ netReturn, cents, daysAgo }) => ({ ...closeOf(netReturn, daysAgo), net: usdFrom(cents / 100) })),
  { maxLength: 60 },
)

const halfLifeDays = fc.constantFrom(0.01, 0.08, 1, 30, 3650)

it('is a number from 0 to the fraction, whatever was traded, and returns to the belief with time', () => {
  fc.assert(
    fc.property(closes, halfLifeDays, (traded, half_life_days) => {
      const { stake, priorStake, payoff } = kellyEstimate(traded, NOW, { ...RULES, half_life_days })
      expect(stake).toBeGreaterThanOrEqual(0)
      expect(stake).toBeLessThanOrEqual(RULES.fraction)
      expect(payoff).toBeGreaterThan(0)
      const later = timestampAt(Date.parse(NOW) + (RULES.days + 2) * DAY_MS)
      expect(kellyEstimate(traded, later, RULES).stake).toBe(priorStake)
    }),
  )
})

it('grows again while nothing is traded, also without a window of days', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0.0001, max: 1, noNaN: true }), { maxLength: 60 }), (lost) => {
      const losses = lost.map((share) => closeOf(-share, 0))
      const stakes = Array.from(
        { length: 12 },
        (_, month) =>
          kellyEstimate(losses, timestampAt(Date.parse(NOW) + month * 30 * DAY_MS), { ...RULES, days: 3650 })
            .stake,
      )
      expect(stakes).toEqual(stakes.toSorted((one, other) => one - other))
      // Fifty losses in a row count for less than four trades by then.
      expect(stakes.at(-1)).toBeGreaterThan(0)
    }),
  )
})
