import type { PositionId } from '../shared/brand.ts'
import type { Horizon } from '../shared/time.ts'

/** Whether the price left its band upwards or downwards, or stayed inside. */
export type Move = 'up' | 'flat' | 'down'

type Moves = Readonly<Record<Move, number>>

/** Counts of past moves and trades over all authors: how often such calls hit without skill. */
export interface BaseRates {
  readonly moves: Readonly<Partial<Record<Horizon, Moves>>>
  /** Each trade counts once, however many calls it decides; `lastId` detects repetition. */
  readonly trades: { readonly wins: number; readonly count: number; readonly lastId: PositionId | null }
}

export const NO_RATES: BaseRates = { moves: {}, trades: { wins: 0, count: 0, lastId: null } }

const NO_MOVES: Moves = { up: 0, flat: 0, down: 0 }

/** Shares assumed before any observation. */
const PRIOR_SHARES: Moves = { up: 0.4, flat: 0.2, down: 0.4 }

export const moveRate = (rates: BaseRates, horizon: Horizon, move: Move, prior: number): number => {
  const seen = rates.moves[horizon] ?? NO_MOVES
  return (prior * PRIOR_SHARES[move] + seen[move]) / (prior + seen.up + seen.flat + seen.down)
}

/** The prior is a random walk, which reaches the nearer of stop and target more often. */
export const tradeRate = (
  { trades }: BaseRates,
  {
    prior,
    stopPct,
    targetPct,
  }: { readonly prior: number; readonly stopPct: number; readonly targetPct: number },
): number => ((prior * stopPct) / (stopPct + targetPct) + trades.wins) / (prior + trades.count)

export const withMove = (rates: BaseRates, horizon: Horizon, move: Move): BaseRates => {
  const seen = rates.moves[horizon] ?? NO_MOVES
  return {
    moves: Object.assign({}, rates.moves, { [horizon]: Object.assign({}, seen, { [move]: seen[move] + 1 }) }),
    trades: rates.trades,
  }
}

export const withTrade = (rates: BaseRates, positionId: PositionId | null, isWin: boolean): BaseRates => {
  const { wins, count, lastId } = rates.trades
  if (positionId === null || positionId === lastId) return rates
  return {
    moves: rates.moves,
    trades: { wins: wins + (isWin ? 1 : 0), count: count + 1, lastId: positionId },
  }
}

interface BandRules {
  readonly band_min: number
  readonly band_sigma: number
}

/** Smaller moves count as flat: at least the costs of a round trip, and a part of the usual move. */
export const bandOf = (refSigma: number | null, { band_min, band_sigma }: BandRules): number =>
  Math.max(band_min, band_sigma * (refSigma ?? 0))

export const moveOf = (moved: number, band: number): Move => {
  if (moved > band) return 'up'
  return moved < -band ? 'down' : 'flat'
}

/** The move with which a call hits. */
export const MOVE_OF: Readonly<Record<'bullish' | 'bearish' | 'neutral', Move>> = {
  bullish: 'up',
  bearish: 'down',
  neutral: 'flat',
}
