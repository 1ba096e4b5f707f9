import type { Configuration } from '../config/schema.ts'
import type { Timestamp } from '../shared/brand.ts'
import { naturalLog, powerOfTwo } from '../shared/numbers.ts'
import { DAY_MS, msOf } from '../shared/time.ts'
import type { Close } from './ledger.ts'

export type ClosedTrade = Pick<Close, 'at' | 'net' | 'netReturn'>

export type KellyRules = Configuration['risk']['kelly']

/** What closed trades say about the next one, shrunk to the belief held before any of them. */
export interface KellyEstimate {
  /** How many trades the remembered ones still count for. */
  readonly evidence: number
  readonly chance: number
  /** Mean win over mean loss. */
  readonly payoff: number
  /** Share of equity; 0 where no edge is left. */
  readonly stake: number
  /** The same before any trade. */
  readonly priorStake: number
}

/**
 * A prior belief that closed trades replace as far as they count. Each counts less with every later close and with
 * every day, so that losses are forgotten even while nothing is traded.
 */
export const kellyEstimate = (
  closes: readonly ClosedTrade[],
  now: Timestamp,
  rules: KellyRules,
): KellyEstimate => {
  const { wins, losses } = memoryOf(closes, Date.parse(now), rules)
  const evidence = wins.weight + losses.weight
  const chance = (wins.weight + rules.prior * rules.p) / (evidence + rules.prior)
  const isOneMissing = wins.weight === 0 || losses.weight === 0
  const observed = isOneMissing ? rules.b : meanOf(wins) / meanOf(losses)
  // The logarithm of a ratio is shrunk: half counts as much as double, and one odd trade does not decide.
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

/** The stake that makes a repeated bet grow fastest. */
const edgeOf = (chance: number, payoff: number): number =>
  Math.max(0, (payoff * chance - (1 - chance)) / payoff)

interface Side {
  readonly weight: number
  readonly sum: number
}

/** A result that rounds to nothing still has a side. */
const SMALLEST_RETURN = 1e-9
/** Less is nothing: a mean of such weights would have no digits left. */
const FORGOTTEN = 1e-9

const memoryOf = (
  closes: readonly ClosedTrade[],
  nowMs: number,
  rules: KellyRules,
): { readonly wins: Side; readonly losses: Side } => {
  const wins = { weight: 0, sum: 0 }
  const losses = { weight: 0, sum: 0 }
  for (let index = Math.max(0, closes.length - rules.trades); index < closes.length; index += 1) {
    const { at, net, netReturn } = closes[index] as ClosedTrade
    // The same closes are read for every entry.
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

const meanOf = ({ weight, sum }: Side): number => sum / weight
