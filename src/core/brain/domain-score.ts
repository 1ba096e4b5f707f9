import type { Configuration } from '../config/schema.ts'
import { evidenceIn } from '../signal-types/all.ts'
import type { MarketFacts } from '../signal-types/declare.ts'
import { DOMAINS, type Domain, type DomainWeights } from '../shared/domains.ts'
import { clamp01, r9 } from '../shared/numbers.ts'
import type { WeightedAuthor } from './authors.ts'
import type { FreshSignal } from './fresh-signals.ts'

/** The score of one domain. Inputs are parallel lists, because one object per input would be slow. */
export interface DomainScore {
  readonly domain: Domain
  /** -1 to 1. */
  readonly value: number
  /** Quality of the freshest input. */
  readonly quality: number
  readonly signals: readonly FreshSignal[]
  readonly evidences: readonly number[]
  readonly shares: readonly number[]
}

/** Scores of the domains with evidence. `fresh` is ordered by author. */
export const scoreDomains = (
  fresh: readonly FreshSignal[],
  market: MarketFacts,
  rules: Pick<Configuration['brain'], 'share_cap' | 'parts'>,
): readonly DomainScore[] => {
  const byDomain = new Map<Domain, DomainInputs>()
  for (const one of fresh) {
    const { declaration, signal } = one
    const evidence = evidenceIn(declaration, signal.payload, market, rules.parts)
    if (evidence === null) continue
    let inputs = byDomain.get(declaration.domain)
    if (inputs === undefined) {
      inputs = { signals: [], evidences: [], claims: [] }
      byDomain.set(declaration.domain, inputs)
    }
    inputs.signals.push(one)
    inputs.evidences.push(evidence)
    addToClaim(inputs.claims, one)
  }
  const scores: DomainScore[] = []
  for (const domain of DOMAINS) {
    const inputs = byDomain.get(domain)
    if (inputs !== undefined) scores.push(scoreDomain(domain, inputs, rules.share_cap))
  }
  return scores
}

interface DomainInputs {
  readonly signals: FreshSignal[]
  readonly evidences: number[]
  /** One claim per author, in the order of the signals. */
  readonly claims: AuthorClaim[]
}

interface AuthorClaim {
  readonly weighted: WeightedAuthor
  signalCount: number
  bestQuality: number
  qualitySum: number
}

const addToClaim = (claims: AuthorClaim[], { weighted, quality }: FreshSignal): void => {
  const last = claims.at(-1)
  if (last?.weighted !== weighted) {
    claims.push({ weighted, signalCount: 1, bestQuality: quality, qualitySum: quality })
    return
  }
  last.signalCount += 1
  last.bestQuality = Math.max(last.bestQuality, quality)
  last.qualitySum += quality
}

/**
 * Weighs the claims. All newcomers together have the vote of one, so that adding names gains nothing. Speaking in turn
 * under several names gains nothing either: all authors whose calls are over share the weight of the strongest of them, less
 * the weight of all open ones.
 */
const weighed = (claims: readonly AuthorClaim[]): readonly ShareClaim[] => {
  const [newcomers, open, over] = [noWeights(), noWeights(), noWeights()]
  for (const { weighted } of claims) {
    const { influence, newcomer } = weighted.author.worth
    add(newcomers, newcomer)
    add(weighted.hasOpenCall ? open : over, influence)
  }
  const ofNewcomers = newcomers.sum === 0 ? 0 : newcomers.most / newcomers.sum
  const ofOver = over.sum === 0 ? 0 : Math.max(0, over.most - open.sum) / over.sum
  return claims.map(({ weighted: { author, capGroup, hasOpenCall }, bestQuality }) => {
    const { influence, newcomer } = author.worth
    const counted = hasOpenCall ? influence : ofOver * influence
    return { weight: bestQuality * (counted + ofNewcomers * newcomer), capGroup }
  })
}

interface Weights {
  sum: number
  most: number
}

const noWeights = (): Weights => ({ sum: 0, most: 0 })

const add = (weights: Weights, weight: number): void => {
  weights.sum += weight
  weights.most = Math.max(weights.most, weight)
}

const scoreDomain = (
  domain: Domain,
  { signals, evidences, claims }: DomainInputs,
  shareCap: number,
): DomainScore => {
  const authorShares = sharesOf(weighed(claims), shareCap)
  const shares: number[] = []
  let value = 0
  let quality = 0
  claims.forEach(({ signalCount, bestQuality, qualitySum }, claimIndex) => {
    quality = Math.max(quality, bestQuality)
    for (const end = shares.length + signalCount; shares.length < end;) {
      const index = shares.length
      // An author's share is divided among their signals by quality.
      const share = ((authorShares[claimIndex] ?? 0) * (signals[index]?.quality ?? 0)) / qualitySum
      value += share * (evidences[index] ?? 0)
      shares.push(share)
    }
  })
  return { domain, value, quality, signals, evidences, shares }
}

/** Claim of one author on a share of a domain. */
export interface ShareClaim {
  /** Above 0. */
  readonly weight: number
  /** Claims of one group count as one, the strongest of them, and share one cap; null means no cap. */
  readonly capGroup: string | null
}

/**
 * The share of each claim: proportional to weight, but no group above the cap. Excess goes to the other claims in
 * proportion. If all of them are at the cap, the shares add up to less than 1.
 */
export const sharesOf = (claims: readonly ShareClaim[], cap: number): readonly number[] => {
  const { groups, groupOf } = groupsOf(claims)
  const atCap = new Set<CapGroup>()
  for (;;) {
    const rate = Math.max(0, 1 - cap * atCap.size) / weightOutside(atCap, claims, groups)
    const before = atCap.size
    for (const group of groups) if (group.strongest * rate > cap) atCap.add(group)
    if (atCap.size > before) continue
    return claims.map(({ weight }, index) => {
      const group = groupOf[index] ?? null
      if (group === null) return weight * rate
      // The share of a group is divided among its claims by weight.
      return ((atCap.has(group) ? cap : group.strongest * rate) * weight) / group.sum
    })
  }
}

interface CapGroup {
  strongest: number
  sum: number
}

/** All groups, and the group of each claim; null for claims without a cap. */
const groupsOf = (
  claims: readonly ShareClaim[],
): { readonly groups: readonly CapGroup[]; readonly groupOf: readonly (CapGroup | null)[] } => {
  const byName = new Map<string, CapGroup>()
  const groupOf = claims.map(({ weight, capGroup }) => {
    if (capGroup === null) return null
    const known = byName.get(capGroup)
    const group = known ?? { strongest: weight, sum: 0 }
    if (known === undefined) byName.set(capGroup, group)
    group.strongest = Math.max(group.strongest, weight)
    group.sum += weight
    return group
  })
  return { groups: [...byName.values()], groupOf }
}

const weightOutside = (
  atCap: ReadonlySet<CapGroup>,
  claims: readonly ShareClaim[],
  groups: readonly CapGroup[],
): number => {
  let sum = 0
  for (const { weight, capGroup } of claims) if (capGroup === null) sum += weight
  for (const group of groups) if (!atCap.has(group)) sum += group.strongest
  return sum
}

/** All domains combined. */
export interface Synthesis {
  /** V: -1 to 1, nine decimals. */
  readonly value: number
  /** The weighted quality of all domains, 0 to 1. */
  readonly coverage: number
  /** 1 if all domains point one way, 0 if they cancel out. */
  readonly agreement: number
  readonly domains: readonly WeighedDomain[]
}

export interface WeighedDomain {
  readonly domain: Domain
  readonly value: number
  readonly quality: number
  /** By configured weight and quality, among the domains with evidence; these add up to 1. */
  readonly weight: number
  /** weight · value */
  readonly contribution: number
}

export const synthesize = (scores: readonly DomainScore[], weights: DomainWeights): Synthesis => {
  let total = 0
  for (const { domain, quality } of scores) total += weights[domain] * quality
  const domains: WeighedDomain[] = []
  let net = 0
  let gross = 0
  for (const { domain, value, quality } of scores) {
    const weight = total === 0 ? 0 : (weights[domain] * quality) / total
    const contribution = weight * value
    domains.push({ domain, value, quality, weight, contribution })
    net += contribution
    gross += Math.abs(contribution)
  }
  return {
    value: r9(net),
    coverage: clamp01(total),
    agreement: gross === 0 ? 0 : clamp01(Math.abs(net) / gross),
    domains,
  }
}
