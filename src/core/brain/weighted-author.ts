import type { Author } from './signal.ts'

/** An author, and what counts of him in every domain and for every symbol: worked out once, not per signal. */
export interface WeightedAuthor {
  readonly author: Author
  readonly weight: number
  /** Whose cap his shares come under; null is free of any. */
  readonly capGroup: string | null
}

export const weightedAuthorOf = (author: Author): WeightedAuthor => ({
  author,
  weight: weightOf(author),
  capGroup: capGroupOf(author),
})

/** A producer may bear the id of a contributor. */
export const authorKeyOf = ({ kind, id }: Author): string => `${kind}:${id}`

/** A person without a record counts 1, the best 5; a producer 1 at chance. Both are trusted as they do these days. */
const weightOf = (author: Author): number =>
  author.trust *
  (author.kind === 'contributor' ? 1 + author.score / 25 : Math.max(0.2, Math.min(2, author.karma / 50)))

const capGroupOf = (author: Author): string | null => {
  if (author.kind === 'builtin') return null
  if (author.kind === 'contributor' && author.groupId !== null) return `group:${author.groupId}`
  return authorKeyOf(author)
}
