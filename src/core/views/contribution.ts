import { z } from 'zod'
import type { KnownEvent } from '../events/catalogue.ts'
import { DIRECTIONS } from '../signal-types/declare.ts'
import type { Contributor } from '../signals/contributors.ts'
import { reputationAt, type ReputationRules } from '../reputation/author-reputation.ts'
import {
  NEWCOMER,
  weightOf,
  type Contribution,
  type ContributionRules,
  type Contributions,
} from '../reputation/contribution.ts'
import { pointsAt, type ScoreRules } from '../reputation/contributor-score.ts'
import { contributionsIn } from '../reputation/evolve.ts'
import { daysWithin, evolveOutcomes, INITIAL_OUTCOMES } from '../reputation/outcomes.ts'
import { authorKey } from '../shared/author-key.ts'
import { contributorId, type Timestamp } from '../shared/brand.ts'
import { clamp } from '../shared/numbers.ts'
import { DAY_MS, HORIZONS, timestampAt } from '../shared/time.ts'
import type { State } from '../state.ts'
import { count, share } from './members.ts'

const grade = z.number().min(-1).max(1)

export const authorRef = z.object({
  author: z.string().meta({ description: '`contributor:` and its id, or `producer:` and its name' }),
  kind: z.enum(['contributor', 'producer']),
  id: z.string().meta({ description: 'of a contributor its id, of a producer its name' }),
  name: z.string(),
})

type AuthorRef = z.infer<typeof authorRef>

export const authorView = authorRef.extend({
  edge: grade.meta({
    description:
      'mean grade of its calls beyond what any call could expect, shrunk to 0; newer calls count more',
  }),
  edge_low: grade.meta({ description: 'lower end of the 95 % interval of `edge`' }),
  edge_high: grade,
  edge_error: z.number().min(0).meta({ description: 'standard error of `edge`' }),
  evidence: z.number().min(0).meta({ description: 'independent outcomes that `edge` rests on' }),
  borrowed: share.meta({
    description: 'how much of what it knows others had said before; the more, the surer the rest must be',
  }),
  own: share.meta({ description: 'the part of its sure edge that others had not said before' }),
  influence: z.number().min(0).meta({
    description:
      'what its contribution gives it in the vote on a symbol, while its newest call there is open',
  }),
  newcomer: share.meta({
    description:
      'its part as a newcomer, falling with each outcome; all newcomers together have the vote of one',
  }),
  trust: z.number().min(0).meta({ description: '`influence` + `newcomer`' }),
  karma: z.number().min(0).max(100).meta({ description: '50 is chance' }),
  score: z
    .number()
    .min(0)
    .max(100)
    .nullable()
    .meta({ description: 'null for producers and removed contributors' }),
  calls: count.meta({
    description: 'on symbols with a price, not counting repeats of its own open calls',
  }),
  outcomes: z.number().min(0).meta({ description: 'of its calls, by the market' }),
  group: z
    .string()
    .nullable()
    .meta({ description: 'the author whose calls this group repeats; null for one who moves alone' }),
})

export type AuthorView = z.infer<typeof authorView>

export const calibrationBin = z.object({
  from: share,
  to: share,
  calls: z.int().min(1),
  stated: share.meta({ description: 'mean stated probability' }),
  hit_rate: share,
})

export const dayView = z.object({
  day: z.string().meta({ description: 'UTC' }),
  outcomes: z.number().min(0),
  added: z.number().meta({ description: 'sum of the grades beyond what was to be expected, as for karma' }),
  total: z.number().meta({ description: '`added` of this day and of all listed before' }),
})

export const contributionView = authorView.extend({
  moves_with: z.array(
    authorRef.extend({
      overlap: share.meta({ description: 'how far one repeats the other; 1 says nothing new' }),
      speaks: z.enum(['before', 'after']).meta({ description: 'whether the other speaks first' }),
      same_group: z.boolean(),
    }),
  ),
  newest_calls: z
    .array(
      z.object({
        call_id: z.string(),
        at: z.string().meta({ description: 'when its outcome was known' }),
        symbol: z.string(),
        direction: z.enum(DIRECTIONS),
        horizon: z.enum(HORIZONS),
        return_pct: z.number().nullable().meta({ description: 'of the price' }),
        band_pct: z.number().nullable().meta({ description: 'smaller moves are flat' }),
        hit: z.boolean().nullable(),
        added: z.number().meta({
          description:
            'grade from -2 to 2 beyond what was to be expected, at the present base rates; 0 for a neutral call',
        }),
      }),
    )
    .meta({ description: 'that the market decided, newest first' }),
  days: z.array(dayView).meta({ description: 'UTC days with outcomes, oldest first, 90 at most' }),
  calibration: z.array(calibrationBin).meta({ description: 'of the newest resolved calls' }),
  as_of: z.string(),
})

export type ContributionView = z.infer<typeof contributionView>

/** Event that settled or measured a call. */
export type JudgedCall = Extract<
  KnownEvent,
  { readonly type: 'attribution.resolved.v1' | 'attribution.measured.v1' }
>

export interface ContributionContext {
  readonly now: Timestamp
  readonly rules: ScoreRules & ReputationRules & { readonly influence: ContributionRules }
}

export type KnownAuthors = Pick<State, 'signals' | 'reputation'>

const DAYS = 90
const COMPANIONS_MAX = 20
const NEWEST_MAX = 20

/** One author in one screen. `judged`: its calls, newest first. */
export const viewContribution = (
  state: KnownAuthors,
  author: string,
  judged: readonly JudgedCall[],
  context: ContributionContext,
): ContributionView => {
  const contributions = contributionsIn(state.reputation, context.rules.influence)
  return {
    ...authorWith(state, contributions, context)(author),
    moves_with: companionsOf(state, author, contributions),
    newest_calls: judged.flatMap((event) => addedBy(state, event)).slice(0, NEWEST_MAX),
    days: accumulated(daysOf(state, [author], context.now)),
    calibration: calibrationOf(judged),
    as_of: context.now,
  }
}

/** Standard errors on both sides that hold 95 % of a normal distribution. */
const INTERVAL_ERRORS = 1.96

export const authorWith = (
  state: KnownAuthors,
  contributions: Contributions,
  { now, rules }: ContributionContext,
): ((author: string) => AuthorView) => {
  const { outcomes, overlaps } = state.reputation
  const pointsOf = pointsAt(now, rules)
  return (author) => {
    const own: Contribution = contributions.get(author) ?? NEWCOMER
    const { mean, error, evidence } = own.edge
    const contributor = contributorOf(state, author)
    return {
      ...refOf(state, author),
      edge: clamp(mean),
      edge_low: clamp(mean - INTERVAL_ERRORS * error),
      edge_high: clamp(mean + INTERVAL_ERRORS * error),
      edge_error: error,
      evidence,
      borrowed: own.borrowed,
      own: own.own,
      influence: own.influence,
      newcomer: own.newcomer,
      trust: weightOf(own),
      karma: reputationAt(outcomes, author, now, rules),
      score: contributor === null || contributor.removed ? null : pointsOf(contributor.record, own),
      calls: overlaps.counts.get(author)?.calls ?? 0,
      outcomes: outcomes.edges.get(author)?.outcomes ?? 0,
      group: own.group,
    }
  }
}

const CONTRIBUTOR_KEY = authorKey(contributorId(''), '')
const PRODUCER_KEY = authorKey(null, '')

const contributorOf = ({ signals }: KnownAuthors, author: string): Contributor | null =>
  author.startsWith(CONTRIBUTOR_KEY)
    ? (signals.contributors.byId.get(contributorId(author.slice(CONTRIBUTOR_KEY.length))) ?? null)
    : null

export const refOf = (state: KnownAuthors, author: string): AuthorRef => {
  if (!author.startsWith(CONTRIBUTOR_KEY)) {
    const name = author.slice(PRODUCER_KEY.length)
    return { author, kind: 'producer', id: name, name }
  }
  const id = author.slice(CONTRIBUTOR_KEY.length)
  return { author, kind: 'contributor', id, name: contributorOf(state, author)?.name ?? id }
}

/**
 * Authors that this author repeats, and how far: by repeating calls that are still open, or by following at any delay.
 */
const repeatedBy = ({ repeats, follows }: Contribution): ReadonlyMap<string, number> => {
  const overlaps = new Map(repeats.map(({ author, overlap }) => [author, overlap]))
  for (const { author, part } of follows) overlaps.set(author, Math.max(part, overlaps.get(author) ?? 0))
  return overlaps
}

/** Authors that this author repeats, and authors that repeat it. */
const companionsOf = (
  state: KnownAuthors,
  author: string,
  contributions: Contributions,
): ContributionView['moves_with'] => {
  const own = contributions.get(author) ?? NEWCOMER
  const { group } = own
  const found: { readonly other: string; readonly overlap: number; readonly speaks: 'before' | 'after' }[] = [
    ...repeatedBy(own),
  ].map(([other, overlap]) => ({ other, overlap, speaks: 'before' }))
  for (const [other, theirs] of contributions) {
    const overlap = repeatedBy(theirs).get(author)
    if (overlap !== undefined) found.push({ other, overlap, speaks: 'after' })
  }
  return found
    .toSorted((one, other) => other.overlap - one.overlap || (one.other < other.other ? -1 : 1))
    .slice(0, COMPANIONS_MAX)
    .map(({ other, overlap, speaks }) => ({
      ...refOf(state, other),
      overlap,
      speaks,
      same_group: group !== null && contributions.get(other)?.group === group,
    }))
}

/**
 * Grade of a judged call. Empty for a call without a grade: a void one, or one that a trade of several authors decided.
 */
const addedBy = (
  { reputation: { calls } }: KnownAuthors,
  event: JudgedCall,
): ContributionView['newest_calls'] => {
  const { ts, payload } = event
  const author = authorKey(payload.contributor_id, payload.producer_id)
  // Graded by the fold itself, so that the view shows the grade that counted.
  const added = evolveOutcomes(INITIAL_OUTCOMES, event, calls).edges.get(author)?.sum
  if (added === undefined) return []
  const { call_id, symbol, direction, horizon, return_pct, band_pct, hit } = payload
  return [{ call_id, at: ts, symbol, direction, horizon, return_pct, band_pct, hit, added }]
}

type Days = ReadonlyMap<number, { readonly outcomes: number; readonly added: number }>

export const daysOf = (
  { reputation: { outcomes } }: KnownAuthors,
  authors: readonly string[],
  now: Timestamp,
): Days => {
  const days = new Map<number, { outcomes: number; added: number }>()
  for (const author of authors) {
    for (const { day, tally } of daysWithin(outcomes, author, now, DAYS)) {
      const sum = days.get(day) ?? { outcomes: 0, added: 0 }
      days.set(day, {
        outcomes: sum.outcomes + tally.weight,
        // A grade goes from -1 to 1, a surplus from 0 to 1.
        added: sum.added + 2 * tally.surplus,
      })
    }
  }
  return days
}

export const accumulated = (days: Days): ContributionView['days'] => {
  let total = 0
  return [...days]
    .toSorted(([one], [other]) => one - other)
    .map(([day, { outcomes, added }]) => {
      total += added
      return { day: timestampAt(day * DAY_MS).slice(0, 10), outcomes, added, total }
    })
}

const BIN_EDGES = [0, 0.5, 0.6, 0.7, 0.8, 0.9, 1] as const

/** Stated probabilities compared with actual hits. Void calls do not count. */
export const calibrationOf = (judged: readonly JudgedCall[]): ContributionView['calibration'] => {
  const stated = judged.flatMap(({ type, payload: call }) =>
    type === 'attribution.resolved.v1' && call.hit !== null
      ? [{ isHit: call.hit, probability: call.probability }]
      : [],
  )
  return BIN_EDGES.slice(0, -1).flatMap((from, index) => {
    const to = BIN_EDGES[index + 1] ?? 1
    const mine = stated.filter(
      ({ probability }) => probability >= from && (probability < to || (to === 1 && probability === 1)),
    )
    if (mine.length === 0) return []
    const sum = mine.reduce((all, { probability }) => all + probability, 0)
    return [
      {
        from,
        to,
        calls: mine.length,
        stated: sum / mine.length,
        hit_rate: mine.filter(({ isHit }) => isHit).length / mine.length,
      },
    ]
  })
}
