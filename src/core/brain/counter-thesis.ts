import { clamp01 } from '../shared/numbers.ts'
import type { Gauges } from './gauges.ts'
import type { Regime } from './regime.ts'

/** 1 long, -1 short, 0 neither. */
export type Side = -1 | 0 | 1

export type CrowdGauges = Pick<Gauges, 'rsi' | 'funding' | 'basis'>

interface Ramp {
  readonly neutral: number
  readonly from: number
  readonly to: number
  readonly points: number
}

export interface CounterThesisRules {
  readonly rsi: Ramp
  readonly funding: Ramp
  readonly basis: Ramp
  readonly crisis_points: number
  readonly max_points: number
  readonly damping_points: number
}

/** How crowded the own side is, in points. */
export const counterThesis = (
  side: Side,
  { rsi, funding, basis }: CrowdGauges,
  regime: Regime,
  rules: CounterThesisRules,
): number => {
  const points =
    climb(side, rsi, rules.rsi) +
    climb(side, funding, rules.funding) +
    climb(side, basis, rules.basis) +
    (regime === 'CRISIS' ? rules.crisis_points : 0)
  return Math.min(points, rules.max_points)
}

const climb = (side: Side, value: number | null, { neutral, from, to, points }: Ramp): number =>
  value === null ? 0 : points * clamp01((side * (value - neutral) - from) / (to - from))
