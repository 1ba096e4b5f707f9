import type { PositionId } from '../shared/brand.ts'
import type { Horizon } from '../shared/time.ts'

/** Whether the price left its band upwards or downwards, or stayed inside. */
export type Move = 'up' | 'flat' | 'down'

type Moves = Readonly<Record<Move, number>>

/** Counts of past moves and trades over all authors: the hit rate of such calls without skill. */
export interface BaseRates {
  readonly moves: Readonly<Partial<Record<Horizon, Moves>>>
  readonly drifts: Readonly<Partial<Record<Horizon, Drift>>>
  /** Wins and number of trades. Each trade counts once, however many calls it decides; `lastId` detects repetition. */
  readonly trades: { readonly wins: number; readonly count: number; readonly lastId: PositionId | null }
}

/** How much more often prices rise than fall. Each day counts once, however many calls it has. */
interface Drift {
  /** Earlier days, and the sum of their drifts. */
  readonly days: number
  readonly sum: number
  /** The newest day so far. */
  readonly day: number
  readonly moves: Moves
}

export const NO_RATES: BaseRates = { moves: {}, drifts: {}, trades: { wins: 0, count: 0, lastId: null } }

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

/**
 * Drift from -1 (prices only fall) to 1. It is averaged over days, because calls of one day move together. Counted by
 * calls, an author with hundreds of calls on a rarely used horizon would set the drift and then gain by calling against
 * it.
 */
export const driftOf = (rates: BaseRates, horizon: Horizon): number => {
  const drift = rates.drifts[horizon]
  return drift === undefined ? 0 : (drift.sum + dayDriftOf(drift)) / (STEADY_DAYS + drift.days + 1)
}

/** Number of days without drift that are assumed initially. */
const STEADY_DAYS = 3

const dayDriftOf = ({ moves: { up, flat, down } }: Drift): number => (up - down) / (up + flat + down)

export const withMove = (rates: BaseRates, horizon: Horizon, move: Move, day: number): BaseRates => ({
  moves: Object.assign({}, rates.moves, { [horizon]: withOne(rates.moves[horizon] ?? NO_MOVES, move) }),
  drifts: Object.assign({}, rates.drifts, { [horizon]: driftAfter(rates.drifts[horizon], move, day) }),
  trades: rates.trades,
})

const withOne = (moves: Moves, move: Move): Moves => Object.assign({}, moves, { [move]: moves[move] + 1 })

const driftAfter = (before: Drift | undefined, move: Move, day: number): Drift => {
  if (before === undefined) return { days: 0, sum: 0, day, moves: withOne(NO_MOVES, move) }
  const { days, sum, moves } = before
  return day === before.day
    ? { days, sum, day, moves: withOne(moves, move) }
    : { days: days + 1, sum: sum + dayDriftOf(before), day, moves: withOne(NO_MOVES, move) }
}

export const withTrade = (rates: BaseRates, positionId: PositionId | null, isWin: boolean): BaseRates => {
  const { wins, count, lastId } = rates.trades
  if (positionId === null || positionId === lastId) return rates
  return {
    moves: rates.moves,
    drifts: rates.drifts,
    trades: { wins: wins + (isWin ? 1 : 0), count: count + 1, lastId: positionId },
  }
}

interface BandRules {
  readonly band_min: number
  readonly band_sigma: number
}

/** Band of flat moves: at least the costs of a round trip, and a part of the usual move. */
export const bandOf = (refSigma: number | null, { band_min, band_sigma }: BandRules): number =>
  Math.max(band_min, band_sigma * (refSigma ?? 0))

export const moveOf = (moved: number, band: number): Move => {
  if (moved > band) return 'up'
  return moved < -band ? 'down' : 'flat'
}

/** The move that makes a call a hit. */
export const MOVE_OF: Readonly<Record<'bullish' | 'bearish' | 'neutral', Move>> = {
  bullish: 'up',
  bearish: 'down',
  neutral: 'flat',
}
