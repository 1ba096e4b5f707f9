import type { Horizon } from '../shared/horizon.ts'

/** What a call can come to: the price left its band upwards or downwards, or stayed in it. */
export type Move = 'up' | 'flat' | 'down'

type Moves = Readonly<Record<Move, number>>

/** How moves and trades came out so far, whoever spoke: what the same calls earn without skill. */
export interface BaseRates {
  readonly moves: Readonly<Partial<Record<Horizon, Moves>>>
  /** Each trade once, however many calls it decided: the newest of them is remembered. */
  readonly trades: { readonly wins: number; readonly count: number; readonly lastId: string | null }
}

export const NO_RATES: BaseRates = { moves: {}, trades: { wins: 0, count: 0, lastId: null } }

const NO_MOVES: Moves = { up: 0, flat: 0, down: 0 }

/** What is believed before anything was seen. */
const BELIEVED: Moves = { up: 0.4, flat: 0.2, down: 0.4 }

export const moveRate = (rates: BaseRates, horizon: Horizon, move: Move, prior: number): number => {
  const seen = rates.moves[horizon] ?? NO_MOVES
  return (prior * BELIEVED[move] + seen[move]) / (prior + seen.up + seen.flat + seen.down)
}

/** A price that only wanders reaches the nearer of stop and target more often. */
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

export const withTrade = (rates: BaseRates, positionId: string | null, isWin: boolean): BaseRates => {
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
