/** Keys are each contributor's own: two may use the same word for different things. */
export const submissionKey = (contributorId: string, key: string): string => `submit:${contributorId}:${key}`

/** Whose key it is; null for one that is no submission's. */
export const contributorOfKey = (dedupeKey: string | null): string | null =>
  /^submit:([^:]+):/.exec(dedupeKey ?? '')?.[1] ?? null
