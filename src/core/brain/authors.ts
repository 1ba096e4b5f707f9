import type { CanonicalSymbol, SignalId } from '../shared/brand.ts'
import type { JsonObject } from '../shared/json.ts'

export type Author = ProducerAuthor | ContributorAuthor

export interface ProducerAuthor {
  readonly kind: 'builtin' | 'registered'
  readonly id: string
  readonly worth: Worth
  /** Expected time between two runs; null if unknown. */
  readonly intervalMs: number | null
  readonly quarantined: boolean
}

export interface ContributorAuthor {
  readonly kind: 'contributor'
  readonly id: string
  readonly worth: Worth
}

/** What an author's word is worth by what its calls have added so far. */
export interface Worth {
  /** 0 without evidence. */
  readonly influence: number
  /** 1 without outcomes, falling with each. All newcomers to a question together have the vote of one. */
  readonly newcomer: number
  /** Authors who say the same share a group and its cap. */
  readonly groupId: string | null
}

/** Nothing is known of it. */
export const UNPROVEN: Worth = { influence: 0, newcomer: 1, groupId: null }

/** An author and their current signals, in the order of the log. */
export interface AuthorSignals<Signal extends AuthorSignal = AuthorSignal> {
  readonly author: Author
  readonly signals: readonly Signal[]
  /** Where its newest call is still open. */
  readonly openOn: ReadonlySet<CanonicalSymbol>
}

export interface AuthorSignal {
  readonly id: SignalId
  readonly type: string
  readonly symbol: CanonicalSymbol
  /** The earlier of its own time and the time of receipt. */
  readonly effectiveTimeMs: number
  readonly payload: JsonObject
}

/** An author with what is the same for all of their signals on a symbol. */
export interface WeightedAuthor {
  readonly author: Author
  /** Authors of one group share one cap; null for authors without a cap. */
  readonly capGroup: string | null
  /** Whether what it said there is still to be judged. */
  readonly hasOpenCall: boolean
}

export const weightedAuthorOf = (author: Author, hasOpenCall: boolean): WeightedAuthor => ({
  author,
  capGroup: capGroupOf(author),
  hasOpenCall,
})

/** A producer may have the id of a contributor. */
export const authorKeyOf = ({ kind, id }: Author): string => `${kind}:${id}`

const capGroupOf = (author: Author): string | null => {
  if (author.kind === 'builtin') return null
  const { groupId } = author.worth
  return groupId === null ? authorKeyOf(author) : `group:${groupId}`
}
