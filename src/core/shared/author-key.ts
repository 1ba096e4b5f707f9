import type { ContributorId } from './brand.ts'
import { joinedBy } from './joined-text.ts'

/** One key per author: a contributor may bear the name of a producer. */
export const authorKey = (contributorId: ContributorId | null, producerId: string): string =>
  contributorId === null ? joined('producer', producerId) : joined('contributor', contributorId)

const joined = joinedBy(':')
