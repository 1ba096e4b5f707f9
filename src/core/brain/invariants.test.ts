import { priceFrom } from '../shared/money.ts'
import { canonicalSymbol } from '../shared/symbol.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CycleResult, DecidedConviction } from './cycle.ts'
import type { Regime } from './regime.ts'
import {
  cycleOf,
  firstOf,
  HOUR_MS,
  MINUTE_MS,
  regimeSignals,
  signalOf,
  type BrainSignal,
} from './scenario.fixture.ts'
import { signalsOf, viewOf, views, type View } from './views.fixture.ts'

const regimes = fc.constantFrom<Regime>('BULL', 'BEAR', 'CRISIS', 'TRANSITION')

const MIRRORED: Readonly<Record<Regime, Regime>> = {
  BULL: 'BEAR',
  BEAR: 'BULL',
  CRISIS: 'CRISIS',
  TRANSITION: 'TRANSITION',
}

const OPPOSITE = { long: 'short', short: 'long', neutral: 'neutral' } as const

const marketOf = (return24hPct: number) => [
  { symbol: canonicalSymbol('ETH'), volume24hUsd: 2e9, return24hPct, mark: priceFrom(3000) },
]

const think = (signals: readonly BrainSignal[], regime: Regime, return24hPct = 0): CycleResult =>
  cycleOf({ signals: [...signals, ...regimeSignals(regime)], market: marketOf(return24hPct) })

describe('mirroring', () => {
  it('negates the value and keeps the strength', () => {
    fc.assert(
      fc.property(views, regimes, fc.integer({ min: -8, max: 8 }), (all, regime, return24hPct) => {
        const result = think(signalsOf(all, 1), regime, return24hPct)
        const mirrored = think(signalsOf(all, -1), MIRRORED[regime], -return24hPct)
        const [one, other] = [firstOf(result), firstOf(mirrored)]
        expect(other.value).toBe(0 - one.value)
        expect(other.pcsScore + one.pcsScore).toBeCloseTo(100, 8)
        expect(other.finalScore + one.finalScore).toBeCloseTo(100, 8)
        expect(other.direction).toBe(OPPOSITE[one.direction])
        expect(kept(other)).toStrictEqual(kept(one))
        expect(mirrored.intents.map(sizeOf)).toStrictEqual(result.intents.map(sizeOf))
      }),
    )
  })

  const kept = (conviction: DecidedConviction) => ({
    cts: conviction.ctsScore,
    strength: conviction.effectiveConviction,
    confidence: conviction.confidence,
    reasons: conviction.decision.reasons,
  })

  const sizeOf = ({ sizePct, leverage, credits }: CycleResult['intents'][number]) => ({
    sizePct,
    leverage,
    credits,
  })
})

/** Members whose rise, or fall, speaks for higher prices. */
const RAISING: readonly (readonly [string, string, 1 | -1])[] = [
  ['ta', 'rsi_14', -1],
  ['ta', 'trend_strength', 1],
  ['ta', 'bb_position', -1],
  ['ta', 'ema_20', 1],
  ['ta', 'resistance_distance', 1],
  ['orderbook', 'imbalance', 1],
  ['onchain', 'whale_netflow', 1],
  ['onchain', 'exchange_flow', -1],
  ['onchain', 'price_momentum_24h', 1],
  ['onchain', 'active_addresses_change', 1],
  ['whale', 'smart_money_netflow', 1],
  ['whale', 'top_holders_change', 1],
  ['stablecoin', 'supply_change_24h', 1],
  ['stablecoin', 'supply_change_7d', 1],
  ['tradfi', 'funding_annualized', -1],
  ['tradfi', 'basis_annualized', -1],
  ['tradfi', 'meltup_score', 1],
  ['etf', 'daily_flow_usd', 1],
  ['etf', 'streak_days', 1],
  ['etf', 'cumulative_7d', 1],
  ['social', 'score', 1],
  ['sentiment', 'fear_greed', -1],
  ['aci', 'consensus_score', 1],
  ['events', 'headline_sentiment', 1],
]

describe('neutrality and monotony', () => {
  it.each(['BULL', 'BEAR', 'CRISIS', 'TRANSITION'] as const)('is neutral without data in %s', (regime) => {
    const result = think([], regime)
    expect(firstOf(result)).toMatchObject({ pcsScore: 50, direction: 'neutral', magnitude: 0, confidence: 0 })
    expect(result.intents).toStrictEqual([])
  })

  it('is neutral on neutral data', () => {
    const neutral = [
      signalOf('ta', { rsi_14: 50, trend_strength: 0, bb_position: 0.5, ema_20: 9, ema_50: 9, ema_200: 9 }),
      signalOf('tradfi', { funding_annualized: 10, basis_annualized: 5, oi_change_pct: 20, meltup_score: 2 }),
      signalOf('sentiment', { fear_greed: 50 }),
      signalOf('events', { headline_sentiment: 0, impact_score: 1 }),
    ]
    const result = think(neutral, 'BULL')
    expect(firstOf(result)).toMatchObject({ pcsScore: 50, direction: 'neutral', agreement: 0 })
    expect(result.intents).toStrictEqual([])
  })

  it.each(RAISING)('never lowers PCS when the evidence of %s %s rises', (kind, member, sign) => {
    fc.assert(
      fc.property(viewOf(kind), views, fc.double({ min: 0, max: 1e8, noNaN: true }), (view, others, step) => {
        const raised: View = {
          ...view,
          payloadOf: (mirror) => {
            const payload = view.payloadOf(mirror)
            return { ...payload, [member]: (payload[member] as number) + sign * step }
          },
        }
        const pcsOf = (first: View) => firstOf(think(signalsOf([first, ...others]), 'BULL')).pcsScore
        expect(pcsOf(raised)).toBeGreaterThanOrEqual(pcsOf(view))
      }),
      { numRuns: 30 },
    )
  })
})

describe('ageing', () => {
  it('moves V towards the value without the aged domain', () => {
    const ages = fc.tuple(fc.integer({ min: 0, max: 70 }), fc.integer({ min: 0, max: 70 }))
    fc.assert(
      fc.property(viewOf('ta'), views, ages, (aged, all, minutes) => {
        const others = all.filter(({ kind }) => kind !== 'ta' && kind !== 'orderbook')
        const valueAt = (age: number) =>
          firstOf(think(signalsOf([{ ...aged, ageMs: age * MINUTE_MS }, ...others]), 'BULL')).value
        const without = firstOf(think(signalsOf(others), 'BULL')).value
        const [younger, older] = [Math.min(...minutes), Math.max(...minutes)]
        const distances = [younger, older].map((age) => valueAt(age) - without)
        const [before = 0, after = 0] = distances
        // Values have nine decimals. What is left is no further away, and on the same side.
        expect(Math.abs(after)).toBeLessThanOrEqual(Math.abs(before) + 2e-9)
        expect(Math.sign(before) * after).toBeGreaterThanOrEqual(-2e-9)
      }),
    )
  })

  it('never adds a vote', () => {
    const value = fc.integer({ min: -20, max: 90 })
    const age = fc.integer({ min: 0, max: 30 })
    fc.assert(
      fc.property(fc.tuple(value, value, value, value), fc.tuple(age, age), ([f, b, r, g], ages) => {
        const votesAt = (hours: number) =>
          cycleOf({
            signals: [
              signalOf('tradfi', { funding_annualized: f, basis_annualized: b }, btcAt(hours)),
              signalOf('ta', { rsi_14: r }, btcAt(hours / 24)),
              signalOf('sentiment', { fear_greed: g }, btcAt(hours)),
            ],
          }).regime.votes
        const [younger, older] = [votesAt(Math.min(...ages)), votesAt(Math.max(...ages))]
        for (const kind of ['bull', 'bear', 'crisis'] as const) {
          expect(older[kind]).toBeLessThanOrEqual(younger[kind])
        }
      }),
    )
  })

  const btcAt = (hours: number) => ({ symbol: 'BTC', ageMs: hours * HOUR_MS })
})
