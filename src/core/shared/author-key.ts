import type { ContributorId } from './brand.ts'

/** One key per author. The kind is part of it, because a contributor may have the name of a producer. */
export const authorKey = (contributorId: ContributorId | null, producerId: string): string =>
  contributorId === null ? `producer:${producerId}` : `contributor:${contributorId}`
