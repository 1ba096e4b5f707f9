import type { Configuration } from '../config/schema.ts'
import type { SignalId } from '../shared/brand.ts'
import { clamp01, r9 } from '../shared/numbers.ts'
import { type DomainScore, type Synthesis, synthesize, type WeighedDomain } from './domain-score.ts'
import type { FreshSignal } from './fresh-signals.ts'
import type { Gauges, Regime } from './regime.ts'
import type { Domain, DomainWeights } from '../shared/domains.ts'

type ConvictionDirection = 'long' | 'short' | 'neutral'

export const TIMEFRAME = '4h' as const

/** Strength of a value after counter-thesis and regime. */
export interface ConvictionStrength {
  readonly side: Side
  readonly direction: ConvictionDirection
  /** Counter-thesis: points for crowding on the conviction's side. */
  readonly ctsScore: number
  /** V' = V damped by the counter-thesis: -1 to 1, nine decimals. */
  readonly dampedValue: number
  /** 0 to 10. */
  readonly preCapMagnitude: number
  /** 0 to 10, capped by the regime. */
  readonly magnitude: number
  /** 50 to 100, in the direction of the conviction. */
  readonly effectiveConviction: number
}

/** The conviction on one symbol, with its derivation. */
export interface Conviction extends ConvictionStrength, Synthesis {
  /** Symbol in the spelling of the universe. */
  readonly symbol: string
  readonly regime: Regime
  /** Inputs of the counter-thesis. */
  readonly gauges: CrowdGauges
  /** PCS: 0 to 100, 50 is neutral. */
  readonly pcsScore: number
  readonly finalScore: number
  readonly confidence: number
  readonly inputs: readonly ConvictionInput[]
  readonly signalIds: readonly SignalId[]
}

export interface ConvictionInput {
  readonly signalId: SignalId
  readonly authorId: string
  readonly domain: Domain
  readonly share: number
  readonly quality: number
  readonly evidence: number
  /** Share of V; the shares add up to V. */
  readonly contribution: number
}

interface Circumstances {
  readonly regime: Regime
  readonly gauges: CrowdGauges
}

type ConvictionRules = Pick<Configuration['brain'], 'direction_threshold' | 'caps' | 'cts'>

export const convictionOf = (
  symbol: string,
  scores: readonly DomainScore[],
  weights: DomainWeights,
  { regime, gauges }: Circumstances,
  rules: ConvictionRules,
): Conviction => {
  const synthesis = synthesize(scores, weights)
  const strength = strengthOf(synthesis.value, { regime, gauges }, rules)
  const { value, coverage, agreement, domains } = synthesis
  const inputs = inputsOf(scores, domains)
  return {
    symbol,
    regime,
    gauges,
    ...synthesis,
    ...strength,
    pcsScore: scoreOf(value),
    finalScore: scoreOf(strength.dampedValue),
    confidence: r9((Math.abs(strength.dampedValue) + coverage + agreement) / 3),
    inputs,
    signalIds: inputs.map(({ signalId }) => signalId),
  }
}

export const strengthOf = (
  value: number,
  { regime, gauges }: Circumstances,
  rules: ConvictionRules,
): ConvictionStrength => {
  const side = sideOf(value)
  const ctsScore = counterThesis(side, gauges, regime, rules.cts)
  const dampedValue = r9(value * (1 - ctsScore / rules.cts.damping_points))
  const preCapMagnitude = r9(10 * Math.abs(dampedValue))
  const magnitude = Math.min(preCapMagnitude, capOf(side, regime, rules.caps))
  return {
    side,
    direction: directionOf(dampedValue, rules.direction_threshold),
    ctsScore: r9(ctsScore),
    dampedValue,
    preCapMagnitude,
    magnitude,
    effectiveConviction: r9(50 + 5 * magnitude),
  }
}

const inputsOf = (
  scores: readonly DomainScore[],
  weighed: readonly WeighedDomain[],
): readonly ConvictionInput[] => {
  const inputs: ConvictionInput[] = []
  scores.forEach(({ domain, signals, shares, evidences }, domainIndex) => {
    const weight = weighed[domainIndex]?.weight ?? 0
    for (let index = 0; index < signals.length; index += 1) {
      const { weighted, signal, quality } = signals[index] as FreshSignal
      const [share, evidence] = [shares[index] ?? 0, evidences[index] ?? 0]
      inputs.push({
        signalId: signal.id,
        authorId: weighted.author.id,
        domain,
        share,
        quality,
        evidence,
        contribution: weight * share * evidence,
      })
    }
  })
  return inputs
}

const sideOf = (value: number): Side => {
  if (value > 0) return 1
  return value < 0 ? -1 : 0
}

const directionOf = (dampedValue: number, threshold: number): ConvictionDirection => {
  if (dampedValue === 0 || Math.abs(dampedValue) < threshold) return 'neutral'
  return dampedValue > 0 ? 'long' : 'short'
}

const capOf = (side: Side, regime: Regime, caps: ConvictionRules['caps']): number => {
  switch (regime) {
    case 'BULL':
      return side === -1 ? caps.against_trend : caps.with_trend
    case 'BEAR':
      return side === 1 ? caps.against_trend : caps.with_trend
    case 'TRANSITION':
      return caps.transition
    case 'CRISIS':
      return caps.crisis
  }
}

/** From -1..1 to 0..100. */
const scoreOf = (value: number): number => r9(50 + 50 * value)

/** 1 long, -1 short, 0 neither. */
type Side = -1 | 0 | 1

type CrowdGauges = Pick<Gauges, 'rsi' | 'funding' | 'basis'>

/** Crowding on the side of the conviction, in points. */
export const counterThesis = (
  side: Side,
  { rsi, funding, basis }: CrowdGauges,
  regime: Regime,
  rules: ConvictionRules['cts'],
): number => {
  const points =
    climb(side, rsi, rules.rsi) +
    climb(side, funding, rules.funding) +
    climb(side, basis, rules.basis) +
    (regime === 'CRISIS' ? rules.crisis_points : 0)
  return Math.min(points, rules.max_points)
}

const climb = (
  side: Side,
  value: number | null,
  { neutral, from, to, points }: ConvictionRules['cts']['rsi'],
): number => (value === null ? 0 : points * clamp01((side * (value - neutral) - from) / (to - from)))
