import { z } from 'zod'
import { NEWCOMER, type Contributions } from '../reputation/contribution.ts'
import { contributionsIn } from '../reputation/evolve.ts'
import {
  accumulated,
  authorRef,
  authorView,
  authorWith,
  calibrationBin,
  calibrationOf,
  type ContributionContext,
  dayView,
  daysOf,
  type JudgedCall,
  type KnownAuthors,
  refOf,
} from './contribution.ts'
import { count, share } from './members.ts'

export const authorsView = z.object({
  total: count.meta({ description: 'authors who made a call' }),
  authors: z.array(authorView).meta({ description: 'by influence, then by edge' }),
  groups: z
    .array(
      z.object({
        leader: authorRef.meta({ description: 'who speaks first' }),
        size: z.int().min(2),
        influence: z.number().min(0).meta({ description: 'of all members together' }),
        members: z
          .array(authorRef.extend({ overlap: share, influence: z.number().min(0) }))
          .meta({ description: 'besides the leader, the closest first, 20 at most' }),
      }),
    )
    .meta({ description: 'authors who say the same; the largest first, 50 at most' }),
  days: z.array(dayView).meta({ description: 'of the listed authors together' }),
  calibration: z.array(calibrationBin).meta({ description: 'of the newest resolved calls of all authors' }),
  as_of: z.string(),
})

export type AuthorsView = z.infer<typeof authorsView>

const GROUPS_MAX = 50
const MEMBERS_MAX = 20

/** `resolved`: latest outcomes of all authors. */
export const viewAuthors = (
  state: KnownAuthors,
  resolved: readonly JudgedCall[],
  limit: number,
  context: ContributionContext,
): AuthorsView => {
  const { reputation } = state
  const contributions = contributionsIn(reputation, context.rules.influence)
  const all = new Set([...contributions.keys(), ...reputation.overlaps.counts.keys()])
  const listed = [...all].toSorted(byContribution(contributions)).slice(0, limit)
  return {
    total: all.size,
    authors: listed.map(authorWith(state, contributions, context)),
    groups: groupsIn(state, contributions),
    days: accumulated(daysOf(state, listed, context.now)),
    calibration: calibrationOf(resolved),
    as_of: context.now,
  }
}

const byContribution =
  (contributions: Contributions) =>
  (one: string, other: string): number => {
    const [mine, theirs] = [contributions.get(one) ?? NEWCOMER, contributions.get(other) ?? NEWCOMER]
    return theirs.influence - mine.influence || theirs.edge.mean - mine.edge.mean || (one < other ? -1 : 1)
  }

const groupsIn = (state: KnownAuthors, contributions: Contributions): AuthorsView['groups'] => {
  const influenceOf = (author: string): number => contributions.get(author)?.influence ?? 0
  const members = new Map<string, string[]>()
  for (const [author, { group }] of contributions) {
    if (group === null) continue
    const known = members.get(group)
    if (known === undefined) members.set(group, [author])
    else known.push(author)
  }
  return [...members]
    .filter(([, authors]) => authors.length > 1)
    .toSorted(([one, mine], [other, theirs]) => theirs.length - mine.length || (one < other ? -1 : 1))
    .slice(0, GROUPS_MAX)
    .map(([leader, authors]) => ({
      leader: refOf(state, leader),
      size: authors.length,
      influence: authors.reduce((sum, author) => sum + influenceOf(author), 0),
      members: authors
        .filter((author) => author !== leader)
        .map((author) => ({
          author,
          overlap: contributions.get(author)?.repeats[0]?.overlap ?? 0,
          influence: influenceOf(author),
        }))
        .toSorted((one, other) => other.overlap - one.overlap || (one.author < other.author ? -1 : 1))
        .slice(0, MEMBERS_MAX)
        .map(({ author, ...rest }) => ({ ...refOf(state, author), ...rest })),
    }))
}
