import type { Configuration } from '../../config/schema.ts'
import type { Timestamp } from '../../shared/brand.ts'
import { naturalLog, powerOfTwo } from '../../shared/numbers.ts'
import { DAY_MS, msOf } from '../../shared/time.ts'
import type { ClosedTrade } from './ledger.ts'

export type TradeReturn = Pick<ClosedTrade, 'at' | 'net' | 'netReturn'>

export type KellyRules = Configuration['risk']['kelly']

/** Estimate from closed trades, shrunk towards the prior belief. */
export interface KellyEstimate {
  /** Number of trades that the discounted record stands for. */
  readonly evidence: number
  readonly chance: number
  /** Mean win divided by mean loss. */
  readonly payoff: number
  /** Share of equity; 0 without an edge. */
  readonly stake: number
  /** Stake without any trades. */
  readonly priorStake: number
}

/**
 * A prior belief that closed trades gradually replace. Each trade is discounted with every later close and every day,
 * so that losses are forgotten even without trading.
 */
export const kellyEstimate = (
  closes: readonly TradeReturn[],
  now: Timestamp,
  rules: KellyRules,
): KellyEstimate => {
  const { wins, losses } = memoryOf(closes, Date.parse(now), rules)
  const evidence = wins.weight + losses.weight
  const chance = (wins.weight + rules.prior * rules.p) / (evidence + rules.prior)
  const isOneMissing = wins.weight === 0 || losses.weight === 0
  const observed = isOneMissing ? rules.b : meanOf(wins) / meanOf(losses)
  // The logarithm of the ratio is shrunk: half and double have the same weight, and a single outlier does not decide.
  const log = (evidence * naturalLog(observed) + rules.prior * naturalLog(rules.b)) / (evidence + rules.prior)
  const payoff = powerOfTwo(log / Math.LN2)
  return {
    evidence,
    chance,
    payoff,
    stake: rules.fraction * edgeOf(chance, payoff),
    priorStake: rules.fraction * edgeOf(rules.p, rules.b),
  }
}

/** The Kelly stake, which maximizes the growth of a repeated bet. */
const edgeOf = (chance: number, payoff: number): number =>
  Math.max(0, (payoff * chance - (1 - chance)) / payoff)

interface ReturnSums {
  readonly weight: number
  readonly sum: number
}

/** Replaces results that round to zero, so that they keep their side. */
const SMALLEST_RETURN = 1e-9
/** A smaller total weight counts as no trades: a mean of such weights would have no significant digits. */
const FORGOTTEN = 1e-9

const memoryOf = (
  closes: readonly TradeReturn[],
  nowMs: number,
  rules: KellyRules,
): { readonly wins: ReturnSums; readonly losses: ReturnSums } => {
  const wins = { weight: 0, sum: 0 }
  const losses = { weight: 0, sum: 0 }
  for (let index = Math.max(0, closes.length - rules.trades); index < closes.length; index += 1) {
    const { at, net, netReturn } = closes[index] as TradeReturn
    // `msOf` caches its results, and every entry reads the same closes.
    const days = Math.max(0, nowMs - msOf(at)) / DAY_MS
    if (days > rules.days || net === 0n) continue
    const later = closes.length - 1 - index
    const weight = powerOfTwo(-(later / rules.half_life_trades + days / rules.half_life_days))
    if (weight < FORGOTTEN) continue
    const side = net > 0n ? wins : losses
    side.weight += weight
    side.sum += weight * Math.max(SMALLEST_RETURN, Math.abs(netReturn))
  }
  return { wins, losses }
}

const meanOf = ({ weight, sum }: ReturnSums): number => sum / weight
