import type { Move } from './base-rates.ts'

interface BandRules {
  readonly band_min: number
  readonly band_sigma: number
}

/** Smaller moves prove nothing: at least what a round trip costs, and a part of what the price usually moves. */
export const bandOf = (refSigma: number | null, { band_min, band_sigma }: BandRules): number =>
  Math.max(band_min, band_sigma * (refSigma ?? 0))

export const moveOf = (moved: number, band: number): Move => {
  if (moved > band) return 'up'
  return moved < -band ? 'down' : 'flat'
}

/** The move that makes a call right. */
export const MOVE_OF: Readonly<Record<'bullish' | 'bearish' | 'neutral', Move>> = {
  bullish: 'up',
  bearish: 'down',
  neutral: 'flat',
}
