import type { Gauges } from './gauges.ts'

export type Regime = 'BULL' | 'BEAR' | 'CRISIS' | 'TRANSITION'

export interface RegimeReading {
  readonly regime: Regime
  readonly gauges: Gauges
  readonly votes: Votes
}

export interface Votes {
  readonly bull: number
  readonly bear: number
  readonly crisis: number
}

export interface RegimeChange extends RegimeReading {
  /** Null for the first detection, which is no alarm. */
  readonly previous: Regime | null
}

export interface RegimeRules {
  readonly bull: {
    readonly funding_above: number
    readonly funding_below: number
    readonly basis_above: number
    readonly basis_below: number
    readonly rsi_above: number
    readonly fear_greed_above: number
    readonly votes: number
  }
  readonly bear: {
    readonly funding_below: number
    readonly basis_below: number
    readonly rsi_below: number
    readonly fear_greed_below: number
    readonly votes: number
  }
  readonly crisis: {
    readonly funding_below: number
    readonly basis_above: number
    readonly basis_below: number
    readonly fear_greed_below: number
    readonly votes: number
  }
}

/** What nobody fresh tells does not vote. */
export const detectRegime = (gauges: Gauges, rules: RegimeRules): RegimeReading => {
  const votes: Votes = {
    bull: bullVotes(gauges, rules.bull),
    bear: bearVotes(gauges, rules.bear),
    crisis: crisisVotes(gauges, rules.crisis),
  }
  return { regime: regimeBy(votes, rules), gauges, votes }
}

/** Null while the regime stays what it was. */
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

const count = (...votes: readonly boolean[]): number => votes.filter(Boolean).length
