import type { Configuration } from '../../../core/config/schema.ts'

export type MarketSettings = Configuration['market']
export type Asset = MarketSettings['sim']['other_assets']

/** What is the same in every step of a path. */
export interface StepConstants {
  readonly sim: MarketSettings['sim']
  /** Of one step. */
  readonly days: number
  readonly years: number
  readonly rootDays: number
  readonly rootYears: number
  /** How fast side values follow the phase. */
  readonly follow: number
  /** What a swing loses of itself. */
  readonly reversion: number
  readonly slow: VolatilityPart
  readonly medium: VolatilityPart
  readonly fast: VolatilityPart
  /** Weight of a symbol's own move beside `sim.correlation`. */
  readonly ownShare: number
  readonly walks: boolean
}

/** One of the three speeds at which volatility comes and goes. */
export interface VolatilityPart {
  readonly memory: number
  readonly noise: number
}

export const stepConstantsOf = ({ tick_seconds, profile, sim }: MarketSettings): StepConstants => {
  const days = tick_seconds / 86_400
  const years = days / 365
  return {
    sim,
    days,
    years,
    rootDays: Math.sqrt(days),
    rootYears: Math.sqrt(years),
    follow: Math.min(1, 12 * days),
    reversion: Math.LN2 * days,
    fast: volatilityPart(tick_seconds, 6, 0.36),
    medium: volatilityPart(tick_seconds, 200, 0.36),
    slow: volatilityPart(tick_seconds, 4000, 0.3),
    ownShare: Math.sqrt(1 - sim.correlation * sim.correlation),
    walks: profile === 'walk',
  }
}

const volatilityPart = (tickSeconds: number, halfLifeMinutes: number, deviation: number): VolatilityPart => {
  const memory = Math.max(0, 1 - (Math.LN2 * tickSeconds) / (60 * halfLifeMinutes))
  return { memory, noise: deviation * Math.sqrt(1 - memory * memory) }
}
