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

/** Weight of an author, from the contribution of its calls so far. */
export interface Worth {
  /** Weight from evidence; 0 without any. */
  readonly influence: number
  /** 1 without outcomes, falling with each. All newcomers on a symbol together have the vote of one. */
  readonly newcomer: number
  /** Authors who repeat each other share a group and its cap. */
  readonly groupId: string | null
}

/** Weight of an author without a record. */
export const UNPROVEN: Worth = { influence: 0, newcomer: 1, groupId: null }

/** An author and their current signals, in the order of the log. */
export interface AuthorSignals<Signal extends AuthorSignal = AuthorSignal> {
  readonly author: Author
  readonly signals: readonly Signal[]
  /** Symbols on which the latest call of the author is still open. */
  readonly openOn: ReadonlySet<CanonicalSymbol>
}

export interface AuthorSignal {
  readonly id: SignalId
  readonly type: string
  readonly symbol: CanonicalSymbol
  /** The earlier of the signal's time and its time of receipt. */
  readonly effectiveTimeMs: number
  readonly payload: JsonObject
}

/** An author with the properties that all its signals on a symbol share. */
export interface WeightedAuthor {
  readonly author: Author
  /** Authors of one group share one cap; null for authors without a cap. */
  readonly capGroup: string | null
  /** Whether the latest call of the author on the symbol is still open. */
  readonly hasOpenCall: boolean
}

export const weightedAuthorOf = (author: Author, hasOpenCall: boolean): WeightedAuthor => ({
  author,
  capGroup: capGroupOf(author),
  hasOpenCall,
})

/** The kind is part of the key, because a producer may have the id of a contributor. */
export const authorKeyOf = ({ kind, id }: Author): string => `${kind}:${id}`

const capGroupOf = (author: Author): string | null => {
  if (author.kind === 'builtin') return null
  const { groupId } = author.worth
  return groupId === null ? authorKeyOf(author) : `group:${groupId}`
}
