import type { ContributorId } from './brand.ts'
import { joinedBy } from './joined-text.ts'

/** One key per author. The kind is part of it, because a contributor may have the name of a producer. */
export const authorKey = (contributorId: ContributorId | null, producerId: string): string =>
  contributorId === null ? joined('producer', producerId) : joined('contributor', contributorId)

const joined = joinedBy(':')
