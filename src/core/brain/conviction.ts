import { r9 } from '../shared/numbers.ts'
import { counterThesis, type CounterThesisRules, type CrowdGauges, type Side } from './counter-thesis.ts'
import type { HeardDomain } from './domain-score.ts'
import type { FreshSignal } from './fresh-signals.ts'
import type { Regime } from './regime.ts'
import type { Domain, DomainWeights } from '../shared/domains.ts'
import { synthesize, type Synthesis, type WeighedDomain } from './synthesis.ts'

export type Direction = 'long' | 'short' | 'neutral'

export const TIMEFRAME = '4h' as const

/** What the doubt and the regime leave of a value. */
export interface Judgement {
  readonly side: Side
  readonly direction: Direction
  /** Points against the own side. */
  readonly ctsScore: number
  /** V': -1 to 1, nine decimals. */
  readonly dampedValue: number
  /** 0 to 10. */
  readonly preCapMagnitude: number
  /** 0 to 10, after the cap of the regime. */
  readonly magnitude: number
  /** Strength in the own direction, 50 to 100. */
  readonly effectiveConviction: number
}

/** What the engine thinks of one symbol, and why. */
export interface Conviction extends Judgement, Synthesis {
  readonly symbol: string
  readonly regime: Regime
  /** What the doubt was measured by. */
  readonly gauges: CrowdGauges
  /** PCS: 0 to 100, 50 is neutral. */
  readonly pcsScore: number
  readonly finalScore: number
  readonly confidence: number
  readonly inputs: readonly ConvictionInput[]
  /** Those of the inputs. */
  readonly signalIds: readonly string[]
}

export interface ConvictionInput {
  readonly signalId: string
  readonly authorId: string
  readonly domain: Domain
  readonly share: number
  readonly quality: number
  readonly evidence: number
  /** What it adds to V; all together are V. */
  readonly contribution: number
}

export interface Circumstances {
  readonly regime: Regime
  readonly gauges: CrowdGauges
}

export interface ConvictionRules {
  readonly direction_threshold: number
  readonly caps: {
    readonly with_trend: number
    readonly against_trend: number
    readonly transition: number
    readonly crisis: number
  }
  readonly cts: CounterThesisRules
}

export const convictionOf = (
  symbol: string,
  heard: readonly HeardDomain[],
  weights: DomainWeights,
  { regime, gauges }: Circumstances,
  rules: ConvictionRules,
): Conviction => {
  const synthesis = synthesize(heard, weights)
  const judgement = judge(synthesis.value, { regime, gauges }, rules)
  const { value, coverage, agreement, domains } = synthesis
  const inputs = inputsOf(heard, domains)
  return {
    symbol,
    regime,
    gauges,
    ...synthesis,
    ...judgement,
    pcsScore: scoreOf(value),
    finalScore: scoreOf(judgement.dampedValue),
    confidence: r9((Math.abs(judgement.dampedValue) + coverage + agreement) / 3),
    inputs,
    signalIds: inputs.map(({ signalId }) => signalId),
  }
}

export const judge = (
  value: number,
  { regime, gauges }: Circumstances,
  rules: ConvictionRules,
): Judgement => {
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

/** What was heard, with what each domain came to weigh. */
const inputsOf = (
  heard: readonly HeardDomain[],
  weighed: readonly WeighedDomain[],
): readonly ConvictionInput[] => {
  const inputs: ConvictionInput[] = []
  heard.forEach(({ domain, signals, shares, evidences }, index) => {
    const weight = weighed[index]?.weight ?? 0
    for (let place = 0; place < signals.length; place += 1) {
      const { weighted, signal, quality } = signals[place] as FreshSignal
      const [share, evidence] = [shares[place] ?? 0, evidences[place] ?? 0]
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

const directionOf = (dampedValue: number, threshold: number): Direction => {
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
