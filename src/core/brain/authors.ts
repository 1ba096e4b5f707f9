import type { CanonicalSymbol, SignalId } from '../shared/brand.ts'
import type { JsonObject } from '../shared/json.ts'

export type Author = ProducerAuthor | ContributorAuthor

export interface ProducerAuthor {
  readonly kind: 'builtin' | 'registered'
  readonly id: string
  /** 0 to 100; 50 is chance. */
  readonly reputation: number
  /** Factor by the newest outcomes; 1 at chance. */
  readonly trust: number
  /** Expected time between two runs; null if unknown. */
  readonly intervalMs: number | null
  readonly quarantined: boolean
}

export interface ContributorAuthor {
  readonly kind: 'contributor'
  readonly id: string
  /** 0 to 100. */
  readonly score: number
  /** Factor by the newest outcomes; 1 at chance. */
  readonly trust: number
  /** Contributors who signal together share a group and its cap. */
  readonly groupId: string | null
}

/** An author and their current signals, in the order of the log. */
export interface AuthorSignals<Signal extends AuthorSignal = AuthorSignal> {
  readonly author: Author
  readonly signals: readonly Signal[]
}

export interface AuthorSignal {
  readonly id: SignalId
  readonly type: string
  readonly symbol: CanonicalSymbol
  /** The earlier of its own time and the time of receipt. */
  readonly effectiveTimeMs: number
  readonly payload: JsonObject
}

/** An author with what is the same for all of their signals, computed once per cycle. */
export interface WeightedAuthor {
  readonly author: Author
  readonly weight: number
  /** Authors of one group share one cap; null for authors without a cap. */
  readonly capGroup: string | null
}

export const weightedAuthorOf = (author: Author): WeightedAuthor => ({
  author,
  weight: weightOf(author),
  capGroup: capGroupOf(author),
})

/** A producer may have the id of a contributor. */
export const authorKeyOf = ({ kind, id }: Author): string => `${kind}:${id}`

/** A contributor weighs 1 without a record and 5 at most, a producer 1 at chance; both times trust. */
const weightOf = (author: Author): number =>
  author.trust *
  (author.kind === 'contributor' ? 1 + author.score / 25 : Math.max(0.2, Math.min(2, author.reputation / 50)))

const capGroupOf = (author: Author): string | null => {
  if (author.kind === 'builtin') return null
  if (author.kind === 'contributor' && author.groupId !== null) return `group:${author.groupId}`
  return authorKeyOf(author)
}
