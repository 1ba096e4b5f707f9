import { DOMAINS, type Domain } from '../vocabulary/domains.ts'
import { evidenceOf } from './evidence.ts'
import { authorKeyOf, type FreshSignal } from './fresh-signals.ts'
import type { PartRules } from './readers/all.ts'
import { sharesOf, type Claim } from './shares.ts'
import type { Author, MarketFacts } from './signal.ts'

/** What all authors together say in one domain. */
export interface DomainScore {
  readonly domain: Domain
  /** -1 to 1. */
  readonly value: number
  /** That of the freshest input. */
  readonly quality: number
  readonly inputs: readonly DomainInput[]
}

export interface DomainInput {
  readonly signalId: string
  readonly authorId: string
  readonly share: number
  readonly quality: number
  readonly evidence: number
}

export interface ScoreRules {
  readonly share_cap: number
  readonly parts: PartRules
}

/** Only domains in which somebody says something. What one author says stands together. */
export const scoreDomains = (
  fresh: readonly FreshSignal[],
  market: MarketFacts,
  rules: ScoreRules,
): readonly DomainScore[] => {
  const byDomain = new Map<Domain, AuthorClaim[]>()
  for (const { author, signal, domain, quality } of fresh) {
    const evidence = evidenceOf(signal, market, rules.parts)
    if (evidence === null) continue
    let claims = byDomain.get(domain)
    if (claims === undefined) byDomain.set(domain, (claims = []))
    claim(claims, author, { signalId: signal.id, quality, evidence })
  }
  const scores: DomainScore[] = []
  for (const domain of DOMAINS) {
    const claims = byDomain.get(domain)
    if (claims !== undefined) scores.push(scoreDomain(domain, claims, rules.share_cap))
  }
  return scores
}

interface Reading {
  readonly signalId: string
  readonly quality: number
  readonly evidence: number
}

interface AuthorClaim extends Claim {
  readonly author: Author
  readonly readings: Reading[]
  bestQuality: number
  qualities: number
  weight: number
}

const claim = (claims: AuthorClaim[], author: Author, reading: Reading): void => {
  const { quality } = reading
  const last = claims.at(-1)
  if (last?.author !== author) {
    const weight = quality * standing(author)
    const capGroup = capGroupOf(author)
    claims.push({ author, readings: [reading], bestQuality: quality, qualities: quality, weight, capGroup })
    return
  }
  last.readings.push(reading)
  last.bestQuality = Math.max(last.bestQuality, quality)
  last.qualities += quality
  last.weight = last.bestQuality * standing(author)
}

const scoreDomain = (domain: Domain, claims: readonly AuthorClaim[], shareCap: number): DomainScore => {
  const shares = sharesOf(claims, shareCap)
  const inputs: DomainInput[] = []
  let value = 0
  let best = 0
  claims.forEach(({ author, readings, bestQuality, qualities }, index) => {
    best = Math.max(best, bestQuality)
    for (const { signalId, quality, evidence } of readings) {
      // Within an author's share his signals count by their quality.
      const share = ((shares[index] ?? 0) * quality) / qualities
      inputs.push({ signalId, authorId: author.id, share, quality, evidence })
      value += share * evidence
    }
  })
  return { domain, value, quality: best, inputs }
}

/** A person without a record counts 1, the best 5; a producer 1 at chance. Both are trusted as they do these days. */
const standing = (author: Author): number =>
  author.trust *
  (author.kind === 'contributor' ? 1 + author.score / 25 : Math.max(0.2, Math.min(2, author.karma / 50)))

const capGroupOf = (author: Author): string | null => {
  if (author.kind === 'builtin') return null
  if (author.kind === 'contributor' && author.groupId !== null) return `group:${author.groupId}`
  return authorKeyOf(author)
}
