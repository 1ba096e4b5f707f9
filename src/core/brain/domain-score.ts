import { type Domain, DOMAINS } from '../shared/domains.ts'
import { evidenceIn, type PartSettings } from '../signal-types/all.ts'
import type { FreshSignal } from './fresh-signals.ts'
import { type Claim, sharesOf } from './shares.ts'
import type { MarketFacts } from '../signal-types/declare.ts'
import type { WeightedAuthor } from './weighted-author.ts'

/** What all authors together say in one domain. */
export interface DomainScore {
  readonly domain: Domain
  /** -1 to 1. */
  readonly value: number
  /** That of the freshest input. */
  readonly quality: number
}

/** A score and what it comes from, place by place: one object per signal would cost more than all else. */
export interface HeardDomain extends DomainScore {
  readonly signals: readonly FreshSignal[]
  readonly evidences: readonly number[]
  readonly shares: readonly number[]
}

export interface ScoreRules {
  readonly share_cap: number
  readonly parts: PartSettings
}

/** Only domains in which somebody says something. What one author says stands together. */
export const scoreDomains = (
  fresh: readonly FreshSignal[],
  market: MarketFacts,
  rules: ScoreRules,
): readonly HeardDomain[] => {
  const byDomain = new Map<Domain, Talk>()
  for (const signal of fresh) {
    const { domain } = signal.declaration
    const evidence = evidenceIn(signal.declaration, signal.signal.payload, market, rules.parts)
    if (evidence === null) continue
    let talk = byDomain.get(domain)
    if (talk === undefined) byDomain.set(domain, (talk = { signals: [], evidences: [], claims: [] }))
    talk.signals.push(signal)
    talk.evidences.push(evidence)
    claim(talk.claims, signal)
  }
  const scores: HeardDomain[] = []
  for (const domain of DOMAINS) {
    const talk = byDomain.get(domain)
    if (talk !== undefined) scores.push(scoreDomain(domain, talk, rules.share_cap))
  }
  return scores
}

interface Talk {
  readonly signals: FreshSignal[]
  readonly evidences: number[]
  /** In the order of the signals. */
  readonly claims: AuthorClaim[]
}

interface AuthorClaim extends Claim {
  readonly weighted: WeightedAuthor
  signals: number
  bestQuality: number
  qualities: number
  weight: number
}

const claim = (claims: AuthorClaim[], { weighted, quality }: FreshSignal): void => {
  const { weight: authorWeight, capGroup } = weighted
  const last = claims.at(-1)
  if (last?.weighted !== weighted) {
    const weight = quality * authorWeight
    claims.push({ weighted, signals: 1, bestQuality: quality, qualities: quality, weight, capGroup })
    return
  }
  last.signals += 1
  last.bestQuality = Math.max(last.bestQuality, quality)
  last.qualities += quality
  last.weight = last.bestQuality * authorWeight
}

const scoreDomain = (domain: Domain, { signals, evidences, claims }: Talk, shareCap: number): HeardDomain => {
  const ofAuthors = sharesOf(claims, shareCap)
  const shares: number[] = []
  let value = 0
  let best = 0
  claims.forEach(({ signals: count, bestQuality, qualities }, index) => {
    best = Math.max(best, bestQuality)
    for (const end = shares.length + count; shares.length < end;) {
      const place = shares.length
      // Within an author's share his signals count by their quality.
      const share = ((ofAuthors[index] ?? 0) * (signals[place]?.quality ?? 0)) / qualities
      value += share * (evidences[place] ?? 0)
      shares.push(share)
    }
  })
  return { domain, value, quality: best, signals, evidences, shares }
}
