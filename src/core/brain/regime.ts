import type { Configuration } from '../config/schema.ts'
import type { FreshSignal } from './fresh-signals.ts'
import { numberIn } from '../signal-types/declare.ts'
import { sentiment } from '../signal-types/sentiment.ts'
import { ta } from '../signal-types/ta.ts'
import { tradfi } from '../signal-types/tradfi.ts'

export type Regime = 'BULL' | 'BEAR' | 'CRISIS' | 'TRANSITION'

export interface RegimeReading {
  readonly regime: Regime
  readonly gauges: Gauges
  readonly votes: Votes
}

interface Votes {
  readonly bull: number
  readonly bear: number
  readonly crisis: number
}

export interface RegimeChange extends RegimeReading {
  /** Null for the first detection, which raises no alert. */
  readonly previous: Regime | null
}

type RegimeRules = Configuration['brain']['regime']

/** A gauge without a fresh signal does not vote. */
export const detectRegime = (gauges: Gauges, rules: RegimeRules): RegimeReading => {
  const votes: Votes = {
    bull: bullVotes(gauges, rules.bull),
    bear: bearVotes(gauges, rules.bear),
    crisis: crisisVotes(gauges, rules.crisis),
  }
  return { regime: regimeBy(votes, rules), gauges, votes }
}

/** Returns null if the regime is unchanged. */
export const regimeChange = (previous: Regime | null, reading: RegimeReading): RegimeChange | null =>
  reading.regime === previous ? null : { ...reading, previous }

const regimeBy = (votes: Votes, rules: RegimeRules): Regime => {
  if (votes.crisis >= rules.crisis.votes) return 'CRISIS'
  if (votes.bull >= rules.bull.votes) return 'BULL'
  return votes.bear >= rules.bear.votes ? 'BEAR' : 'TRANSITION'
}

const bullVotes = ({ funding, basis, rsi, fearGreed }: Gauges, rules: RegimeRules['bull']): number =>
  count(
    funding !== null && funding > rules.funding_above && funding < rules.funding_below,
    basis !== null && basis > rules.basis_above && basis < rules.basis_below,
    rsi !== null && rsi > rules.rsi_above,
    fearGreed !== null && fearGreed > rules.fear_greed_above,
  )

const bearVotes = ({ funding, basis, rsi, fearGreed }: Gauges, rules: RegimeRules['bear']): number =>
  count(
    funding !== null && funding < rules.funding_below,
    basis !== null && basis < rules.basis_below,
    rsi !== null && rsi < rules.rsi_below,
    fearGreed !== null && fearGreed < rules.fear_greed_below,
  )

const crisisVotes = ({ funding, basis, fearGreed }: Gauges, rules: RegimeRules['crisis']): number =>
  count(
    funding !== null && funding < rules.funding_below,
    basis !== null && (basis > rules.basis_above || basis < rules.basis_below),
    fearGreed !== null && fearGreed < rules.fear_greed_below,
  )

const count = (...votes: readonly boolean[]): number => votes.filter((vote) => vote).length

/** Raw values of a symbol that decide the regime and the counter-thesis; null without a fresh signal. */
export interface Gauges {
  readonly rsi: number | null
  /** % per year. */
  readonly funding: number | null
  /** % per year. */
  readonly basis: number | null
  /** 0 to 100. */
  readonly fearGreed: number | null
}

export const gaugesOf = (fresh: readonly FreshSignal[]): Gauges => ({
  rsi: gauge(fresh, ta.type, 'rsi_14'),
  funding: gauge(fresh, tradfi.type, 'funding_annualized'),
  basis: gauge(fresh, tradfi.type, 'basis_annualized'),
  fearGreed: gauge(fresh, sentiment.type, 'fear_greed'),
})

/**
 * The built-in producer decides. Without it, the median of the registered ones counts, so that a single producer has
 * little influence.
 */
const gauge = (fresh: readonly FreshSignal[], type: string, member: string): number | null => {
  const own: number[] = []
  const registered: number[] = []
  for (const { weighted, signal } of fresh) {
    const { kind } = weighted.author
    if (signal.type !== type || kind === 'contributor') continue
    const value = numberIn(signal.payload, member)
    if (value !== null) (kind === 'builtin' ? own : registered).push(value)
  }
  return median(own) ?? median(registered)
}

const median = (values: readonly number[]): number | null => {
  if (values.length < 2) return values[0] ?? null
  const sorted = values.toSorted((one, other) => one - other)
  const lower = sorted[Math.floor((sorted.length - 1) / 2)]
  const upper = sorted[Math.floor(sorted.length / 2)]
  if (lower === undefined || upper === undefined) return null
  return lower + (upper - lower) / 2
}
