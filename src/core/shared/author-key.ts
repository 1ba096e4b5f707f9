import type { ContributorId } from './brand.ts'

/** One key per author: a contributor may bear the name of a producer. */
export const authorKey = (contributorId: ContributorId | null, producerId: string): string =>
  contributorId === null ? `producer:${producerId}` : `contributor:${contributorId}`
