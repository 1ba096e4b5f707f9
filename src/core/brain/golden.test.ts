import { canonicalSymbol } from '../shared/symbol.ts'
import { priceFrom } from '../shared/money.ts'
import { describe, expect, it } from 'vitest'
import { r9 } from '../shared/numbers.ts'
import { counterThesis, strengthOf } from './conviction.ts'
import { freshMsOf, qualityAt } from './fresh-signals.ts'
import { detectRegime, type Regime } from './regime.ts'
import {
  type BrainSignal,
  contributor,
  curatorCall,
  cycleOf,
  firstOf,
  HOUR_MS,
  MINUTE_MS,
  regimeSignals,
  RULES,
  signalOf,
} from './scenario.fixture.ts'
import type { MarketFacts } from '../signal-types/declare.ts'

const NO_GAUGES = { rsi: null, funding: null, basis: null, fearGreed: null }

const marketOf = (facts: Partial<MarketFacts>) => [
  { symbol: canonicalSymbol('ETH'), volume24hUsd: null, return24hPct: null, mark: null, ...facts },
]

const thinkOf = (signals: readonly BrainSignal[], regime: Regime, facts: Partial<MarketFacts> = {}) =>
  cycleOf({ signals: [...signals, ...regimeSignals(regime)], market: marketOf(facts) })

const valuesOf = ({ domains }: { domains: readonly { domain: string; value: number }[] }) =>
  Object.fromEntries(domains.map(({ domain, value }) => [domain, r9(value)]))

const strongView = (side: 1 | -1): readonly BrainSignal[] => [
  signalOf('ta', { rsi_14: 50 - side * 28, trend_strength: side * 0.95, volume_ratio: 3 }),
  signalOf('onchain', {
    whale_netflow: side * 20e6,
    exchange_flow: side * -15e6,
    price_momentum_24h: side * 9.5,
    volume_24h_usd: 2e9,
  }),
  curatorCall(side === 1 ? 'bullish' : 'bearish', 10),
  signalOf('tradfi', {
    funding_annualized: side === 1 ? -5 : 25,
    basis_annualized: side === 1 ? 1 : 9,
    oi_change_pct: 20,
  }),
  signalOf('social', { score: side * 8 }),
]

describe('golden numbers', () => {
  it('quality', () => {
    const technicalMs = freshMsOf('technical', contributor('x'), RULES.brain.quality_seconds)
    const curatorMs = freshMsOf('curator', contributor('x'), RULES.brain.quality_seconds)
    expect(
      [15, 30, 40, 45, 60].map((minutes) => r9(qualityAt(minutes * MINUTE_MS, technicalMs))),
    ).toStrictEqual([1, 0.666666667, 0.444444444, 0.333333333, 0])
    expect(r9(qualityAt(30 * HOUR_MS, curatorMs))).toBe(0.916666667)
  })

  it('a strong view in BULL', () => {
    const result = thinkOf(strongView(1), 'BULL', { return24hPct: 5, mark: priceFrom(3000) })
    const conviction = firstOf(result)
    expect(valuesOf(conviction)).toStrictEqual({
      technical: 1,
      onchain: 0.733333333,
      curator: 0.5,
      tradfi: 0.666666667,
      social: 0.8,
    })
    expect(conviction).toMatchObject({
      value: 0.696491228,
      pcsScore: 84.8245614,
      effectiveConviction: 84.8245614,
      ctsScore: 0,
      confidence: 0.882163743,
      direction: 'long',
      regime: 'BULL',
      decision: { action: 'long', reasons: [] },
    })
    expect(result.intents).toMatchObject([
      {
        direction: 'long',
        sizePct: 0.05,
        leverage: 2,
        approvalRequired: false,
        intendedPrice: priceFrom(3000),
      },
    ])
  })

  it('attribution of a strong view in BULL', () => {
    const [intent] = thinkOf(strongView(1), 'BULL', { return24hPct: 5 }).intents
    expect(
      Object.fromEntries(
        intent?.credits.map((credit) => [credit.signalId, credit.weightBillionths / 1e9]) ?? [],
      ),
    ).toStrictEqual({
      onchain: 0.277078085,
      tradfi: 0.201511335,
      curator: 0.188916877,
      social: 0.181360202,
      ta: 0.151133501,
    })
  })

  it('a strong view mirrored in BEAR', () => {
    const result = thinkOf(strongView(-1), 'BEAR', { return24hPct: -5 })
    expect(firstOf(result)).toMatchObject({
      value: -0.696491228,
      pcsScore: 15.1754386,
      effectiveConviction: 84.8245614,
      confidence: 0.882163743,
      direction: 'short',
    })
    expect(result.intents).toMatchObject([{ direction: 'short', sizePct: 0.05 }])
  })

  it('a weak view', () => {
    const signals = [
      signalOf('ta', { rsi_14: 50, trend_strength: 0.1 }),
      signalOf('onchain', {
        whale_netflow: 2e6,
        exchange_flow: -1e6,
        price_momentum_24h: 0.1,
        volume_24h_usd: 2e9,
      }),
      curatorCall('neutral', 0),
    ]
    expect(firstOf(thinkOf(signals, 'BULL'))).toMatchObject({ pcsScore: 51.18055555, direction: 'neutral' })
  })

  it('age lowers weight', () => {
    const pcsAt = (ageMs: number) =>
      firstOf(
        thinkOf(
          [
            signalOf('ta', { rsi_14: 70 }, { ageMs }),
            signalOf('tradfi', { funding_annualized: -5 }),
            signalOf('social', { score: 4 }),
          ],
          'TRANSITION',
        ),
      ).pcsScore
    expect([pcsAt(0), pcsAt(45 * MINUTE_MS)]).toStrictEqual([56.66666665, 66.52173915])
  })

  it('counter-thesis against a crowded long', () => {
    const signals = [
      signalOf('ta', {
        rsi_14: 75,
        trend_strength: 1,
        volume_ratio: 3,
        ema_20: 105,
        ema_50: 102,
        ema_200: 96,
      }),
      signalOf('onchain', { price_momentum_24h: 9 }),
      curatorCall('bullish', 10),
      signalOf('tradfi', { funding_annualized: 35, basis_annualized: 10 }),
    ]
    const inBull = firstOf(thinkOf(signals, 'BULL'))
    expect(valuesOf(inBull)).toStrictEqual({
      technical: 0.333333333,
      onchain: 0.9,
      curator: 0.5,
      tradfi: -0.729166667,
    })
    expect(inBull).toMatchObject({ pcsScore: 64.84375, ctsScore: 54.166666667, finalScore: 60.8235677 })
    expect(firstOf(thinkOf(signals, 'CRISIS'))).toMatchObject({
      pcsScore: 64.84375,
      ctsScore: 84.166666667,
      finalScore: 58.5970052,
    })
  })

  it('counter-thesis of both sides', () => {
    const { cts } = RULES.brain
    expect(r9(counterThesis(1, { rsi: 70, funding: 25, basis: 8 }, 'BULL', cts))).toBe(34.166666667)
    expect(r9(counterThesis(-1, { rsi: 30, funding: -5, basis: 2 }, 'BEAR', cts))).toBe(34.166666667)
  })

  it('shares of three curators, and of one', () => {
    const three = firstOf(
      thinkOf(
        [
          curatorCall('bullish', 8, { id: 'a', author: contributor('a', 4.2) }),
          curatorCall('bearish', 6, { id: 'b', author: contributor('b', 2.6) }),
          curatorCall('bullish', 10, { id: 'c', author: contributor('c') }),
        ],
        'TRANSITION',
      ),
    )
    expect(three.inputs.map(({ share }) => r9(share))).toStrictEqual([0.5, 0.361111111, 0.138888889])
    expect(valuesOf(three)).toStrictEqual({ curator: 0.322222222 })
    const one = firstOf(thinkOf([curatorCall('bearish', 10)], 'TRANSITION'))
    expect((1 + (one.domains[0]?.value ?? 0)) / 2).toBe(0.25)
  })

  it.each([
    [0.9, 'BULL', 95],
    [-0.9, 'BULL', 85],
    [0.9, 'TRANSITION', 80],
    [0.9, 'CRISIS', 70],
  ] as const)('%d in %s is a conviction of %d', (value, regime, effectiveConviction) => {
    expect(strengthOf(value, { regime, gauges: NO_GAUGES }, RULES.brain)).toMatchObject({
      effectiveConviction,
    })
  })

  it.each([
    [12, 5, 58, 62, 'BULL'],
    [-3, 1.5, 28, 20, 'BEAR'],
    [-15, null, null, 12, 'CRISIS'],
    [12, 9, 55, 10, 'CRISIS'],
    [12, 5, null, null, 'TRANSITION'],
    [null, null, null, null, 'TRANSITION'],
  ] as const)(
    'funding %s, basis %s, RSI %s, fear and greed %s is %s',
    (funding, basis, rsi, fearGreed, regime) => {
      expect(detectRegime({ funding, basis, rsi, fearGreed }, RULES.brain.regime).regime).toBe(regime)
    },
  )
})
