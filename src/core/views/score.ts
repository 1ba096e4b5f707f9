import { z } from 'zod'
import type { Contributor, Contributors } from '../signals/contributors.ts'
import { pointsAt, scoreAt, type ScoreRules } from '../reputation/contributor-score.ts'
import type { TrackRecord } from '../signals/track-record.ts'
import { karmaAt, type KarmaRules } from '../reputation/author-reputation.ts'
import { NO_RECENT_SKILL, trustOf, type TrustRules } from '../reputation/recent-skill.ts'
import type { Outcomes } from '../reputation/outcomes.ts'
import { authorKey } from '../shared/author-key.ts'
import { DAY_MS } from '../shared/time.ts'

const count = z.int().min(0)
const share = z.number().min(0).max(1)
const factor = z.object({ value: z.number(), weight: z.number(), contribution: z.number() })

export const scoreView = z.object({
  contributor_id: z.string(),
  node_id: z.string(),
  name: z.string(),
  signals_submitted: count,
  signals_accepted: count,
  signals_profitable: count,
  signals_resolved: count,
  hit_rate: share,
  acceptance_rate: share,
  brier_score: z.number(),
  avg_conviction: z.number(),
  total_karma_usd: z.number(),
  score: z.number().min(0).max(100),
  last_active: z.string().meta({ description: 'empty without signals' }),
  streak: count.meta({ description: 'UTC days in a row with an accepted signal' }),
  factors: z.object({
    hit_rate: factor,
    calibration: factor,
    volume: factor,
    consistency: factor,
    recency: factor,
  }),
  inputs: z
    .object({
      weighted_hits: z.number().min(0),
      weights: z.number().min(0),
      brier_sum: z.number().min(0),
      evidence: share.meta({
        description: 'how much volume and consistency count: (resolved + 1)/(resolved + 1 + k)',
      }),
      days_since_active: z.number().min(0).nullable(),
      gated: z.boolean().meta({ description: 'ten signals or more, and fewer than one in ten was used' }),
    })
    .meta({ description: 'with the counters above, all that the factors are made of' }),
  karma: z.number().min(0).max(100).meta({ description: 'hits beyond the base rate; 50 is chance' }),
  trust: z
    .number()
    .meta({ description: 'what its word is multiplied with, by its newest outcomes; 1 at chance' }),
  as_of: z.string(),
})

export type ScoreView = z.infer<typeof scoreView>

/** What a score is computed with. */
export interface Scoring {
  readonly asOf: string
  readonly outcomes: Outcomes
  readonly rules: ScoreRules & KarmaRules & TrustRules
}

export const viewScore = (
  { id, nodeId, name, record }: Contributor,
  { asOf, outcomes, rules }: Scoring,
): ScoreView => {
  const rated = scoreAt(record, asOf, rules)
  return {
    contributor_id: id,
    node_id: nodeId,
    name,
    signals_submitted: record.submitted,
    signals_accepted: record.accepted,
    signals_profitable: record.profitable,
    signals_resolved: record.resolved,
    hit_rate: rated.gated ? 0 : ratio(record.profitable, record.resolved),
    acceptance_rate: ratio(record.accepted, record.submitted),
    brier_score: rated.brierScore,
    avg_conviction: meanConviction(record),
    total_karma_usd: record.karmaUsd,
    score: rated.score,
    last_active: record.lastActiveAt ?? '',
    streak: rated.gated ? 0 : record.streakDays,
    factors: rated.factors,
    inputs: {
      weighted_hits: record.hitWeightSum,
      weights: record.weightSum,
      brier_sum: record.brierSum,
      evidence: rated.evidence,
      days_since_active:
        record.lastActiveAt === null
          ? null
          : Math.max(0, (Date.parse(asOf) - Date.parse(record.lastActiveAt)) / DAY_MS),
      gated: rated.gated,
    },
    karma: karmaAt(outcomes, authorKey(id, nodeId), asOf, rules),
    trust: trustOf(outcomes.form.get(authorKey(id, nodeId)) ?? NO_RECENT_SKILL, rules),
    as_of: asOf,
  }
}

/** Best first. There may be many thousand contributors and few places, so only the best are kept in order. */
export const viewLeaderboard = ({ byId }: Contributors, scoring: Scoring, limit: number): ScoreView[] => {
  const pointsOf = pointsAt(scoring.asOf, scoring.rules)
  const best: Ranked[] = []
  byId.forEach((contributor) => {
    if (contributor.removed) return
    const points = pointsOf(contributor.record)
    const worst = best[limit - 1]
    if (worst !== undefined && points < worst.points) return
    const candidate = { contributor, points }
    if (worst !== undefined && bestFirst(worst, candidate) < 0) return
    best.splice(placeOf(candidate, best), 0, candidate)
    if (best.length > limit) best.pop()
  })
  return best.map(({ contributor }) => viewScore(contributor, scoring))
}

interface Ranked {
  readonly contributor: Contributor
  /** Its score. */
  readonly points: number
}

/** How many of the best are better. */
const placeOf = (candidate: Ranked, best: readonly Ranked[]): number => {
  let low = 0
  let high = best.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (bestFirst(best[middle] as Ranked, candidate) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** By score, then accepted, then submitted signals, then id. */
const bestFirst = (one: Ranked, other: Ranked): number => {
  const { record: mine } = one.contributor
  const { record: theirs } = other.contributor
  return (
    other.points - one.points ||
    theirs.accepted - mine.accepted ||
    theirs.submitted - mine.submitted ||
    (one.contributor.id < other.contributor.id ? -1 : 1)
  )
}

const meanConviction = ({ convictionSum, convictionCount }: TrackRecord): number =>
  convictionCount === 0 ? 0 : convictionSum / convictionCount

const ratio = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole)
