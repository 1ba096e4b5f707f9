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

/** Only domains in which somebody says something. */
export const scoreDomains = (
  fresh: readonly FreshSignal[],
  market: MarketFacts,
  rules: ScoreRules,
): readonly DomainScore[] => {
  const byDomain = new Map<Domain, Reading[]>()
  for (const { signal, domain, authorKey, quality } of fresh) {
    const evidence = evidenceOf(signal, market, rules.parts)
    if (evidence === null) continue
    const ofDomain = byDomain.get(domain)
    const reading = { signal, domain, authorKey, quality, evidence }
    if (ofDomain === undefined) byDomain.set(domain, [reading])
    else ofDomain.push(reading)
  }
  return DOMAINS.flatMap((domain) => {
    const ofDomain = byDomain.get(domain)
    return ofDomain === undefined ? [] : [scoreDomain(domain, ofDomain, rules.share_cap)]
  })
}

type Reading = FreshSignal & { readonly evidence: number }

interface AuthorClaim extends Claim {
  readonly readings: readonly Reading[]
}

const scoreDomain = (domain: Domain, readings: readonly Reading[], shareCap: number): DomainScore => {
  const shares = sharesOf(claimsOf(readings), shareCap)
  const inputs: DomainInput[] = []
  for (const [claim, share] of shares) pushInputs(inputs, claim, share)
  return {
    domain,
    value: inputs.reduce((sum, { share, evidence }) => sum + share * evidence, 0),
    quality: bestQuality(readings),
    inputs,
  }
}

const claimsOf = (readings: readonly Reading[]): readonly AuthorClaim[] => {
  const byAuthor = new Map<string, Reading[]>()
  for (const reading of readings) {
    const own = byAuthor.get(reading.authorKey)
    if (own === undefined) byAuthor.set(reading.authorKey, [reading])
    else own.push(reading)
  }
  return [...byAuthor.values()].flatMap((own) => claimOf(own))
}

const claimOf = (readings: readonly Reading[]): readonly AuthorClaim[] => {
  const author = readings[0]?.signal.author
  if (author === undefined) return []
  return [{ weight: bestQuality(readings) * standing(author), capGroup: capGroupOf(author), readings }]
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

/** Within an author's share his signals count by their quality. */
const pushInputs = (inputs: DomainInput[], { readings }: AuthorClaim, share: number): void => {
  const qualities = readings.reduce((sum, { quality }) => sum + quality, 0)
  for (const { signal, quality, evidence } of readings) {
    inputs.push({
      signalId: signal.id,
      authorId: signal.author.id,
      share: (share * quality) / qualities,
      quality,
      evidence,
    })
  }
}

const bestQuality = (readings: readonly Reading[]): number =>
  readings.reduce((best, { quality }) => Math.max(best, quality), 0)
