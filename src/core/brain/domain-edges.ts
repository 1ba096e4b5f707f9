import { contributionsIn } from '../reputation/evolve.ts'
import { weightOf, type ContributionRules } from '../reputation/contribution.ts'
import { contributorId } from '../shared/brand.ts'
import { byDomain, DOMAINS, type Domain, type DomainWeights } from '../shared/domains.ts'
import { r9 } from '../shared/numbers.ts'
import { BUILTIN_PRODUCERS } from '../signal-types/all.ts'
import type { BrainFacts } from './evolve.ts'

/**
 * How much better than chance the calls of a domain are: the edges of its authors, by the weight of their word. There are
 * many more calls than trades, and the result of a trade is shared by all domains.
 */
export const domainEdges = (
  { signals: { contributors, producers }, reputation }: BrainFacts,
  rules: ContributionRules,
): DomainWeights => {
  const sums = new Map<Domain, { edges: number; weights: number }>()
  for (const [author, contribution] of contributionsIn(reputation, rules)) {
    const domain = domainOf(author, (name) => producers.registered.get(name)?.domain)
    if (domain === null || isRemoved(contributors, author)) continue
    const weight = weightOf(contribution)
    const sum = sums.get(domain) ?? { edges: 0, weights: 0 }
    sums.set(domain, {
      edges: sum.edges + weight * contribution.edge.mean,
      weights: sum.weights + weight,
    })
  }
  return byDomain((domain) => {
    const { edges, weights } = sums.get(domain) ?? { edges: 0, weights: 0 }
    return weights === 0 ? 0 : r9(edges / weights)
  })
}

const CONTRIBUTORS = 'contributor:'
const PRODUCERS = 'producer:'

/** Its calls are still judged, but its word counts no more. */
const isRemoved = ({ byId }: BrainFacts['signals']['contributors'], author: string): boolean =>
  author.startsWith(CONTRIBUTORS) &&
  byId.get(contributorId(author.slice(CONTRIBUTORS.length)))?.removed === true

const domainOf = (author: string, registered: (name: string) => string | undefined): Domain | null => {
  if (author.startsWith(CONTRIBUTORS)) return 'curator'
  const name = author.slice(PRODUCERS.length)
  const found =
    registered(name) ?? (Object.hasOwn(BUILTIN_PRODUCERS, name) ? BUILTIN_PRODUCERS[name]?.domain : undefined)
  return DOMAINS.find((domain) => domain === found) ?? null
}
