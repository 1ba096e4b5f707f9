import { usdNumber } from '../shared/money.ts'
import type { Timestamp } from '../shared/brand.ts'
import { z } from 'zod'
import type { Contributor, Contributors } from '../signals/contributors.ts'
import { pointsAt, scoreAt, type ScoreRules } from '../reputation/contributor-score.ts'
import { reputationAt, type ReputationRules } from '../reputation/author-reputation.ts'
import { NEWCOMER, weightOf, type ContributionRules, type Contributions } from '../reputation/contribution.ts'
import { contributionsIn } from '../reputation/evolve.ts'
import { daysWithin, NO_TALLY, type Outcomes, totalOf, type Tally } from '../reputation/outcomes.ts'
import { authorKey } from '../shared/author-key.ts'
import { DAY_MS } from '../shared/time.ts'
import { signalsWithin, type Trail, trailOf } from '../signals/trails.ts'
import type { State } from '../state.ts'
import { r9 } from '../shared/numbers.ts'
import { count, share, shown } from './members.ts'

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
        description:
          'how much volume and consistency count: (resolved + 1)/(resolved + 1 + k), times own / 0.1 up to 1, or more for a newcomer',
      }),
      own: share.meta({ description: 'what its calls add beyond chance and beyond what others said before' }),
      edge: z.number().meta({ description: 'mean grade of its calls beyond chance, -1 to 1, shrunk to 0' }),
      edge_error: z.number().min(0).meta({ description: 'standard error of edge' }),
      days_since_active: z.number().min(0).nullable(),
      gated: z.boolean().meta({ description: 'ten signals or more, and fewer than one in ten was used' }),
    })
    .meta({ description: 'with the counters above, all that the factors are made of' }),
  karma: z.number().min(0).max(100).meta({ description: 'hits beyond the base rate; 50 is chance' }),
  trust: z
    .number()
    .min(0)
    .meta({ description: 'what its word weighs: 1 for a newcomer, later by what its calls add' }),
  as_of: z.string(),
})

export type ScoreView = z.infer<typeof scoreView>

/** Inputs of a score. */
export interface Scoring {
  readonly asOf: Timestamp
  readonly outcomes: Outcomes
  readonly contributions: Contributions
  readonly rules: ScoreRules & ReputationRules
}

export const scoringIn = (
  reputation: State['reputation'],
  asOf: Timestamp,
  rules: Scoring['rules'] & { readonly influence: ContributionRules },
): Scoring => ({
  asOf,
  outcomes: reputation.outcomes,
  contributions: contributionsIn(reputation, rules.influence),
  rules,
})

export const viewScore = (
  { id, nodeId, name, record }: Contributor,
  { asOf, outcomes, contributions, rules }: Scoring,
): ScoreView => {
  const author = authorKey(id, nodeId)
  const added = contributions.get(author) ?? NEWCOMER
  const rated = scoreAt(record, added, asOf, rules)
  return showScore({
    ...rated,
    contributorId: id,
    nodeId,
    name,
    signalsSubmitted: record.submitted,
    signalsAccepted: record.accepted,
    signalsProfitable: record.profitable,
    signalsResolved: record.resolved,
    hitRate: rated.gated ? 0 : ratio(record.profitable, record.resolved),
    acceptanceRate: ratio(record.accepted, record.submitted),
    avgConviction: ratio(record.convictionSum, record.convictionCount),
    totalKarmaUsd: usdNumber(record.accrued),
    lastActive: record.lastActiveAt ?? '',
    streak: rated.gated ? 0 : record.streakDays,
    inputs: {
      weighted_hits: record.hitWeightSum,
      weights: record.weightSum,
      brier_sum: record.brierSum,
      evidence: rated.evidence,
      own: added.own,
      edge: added.edge.mean,
      edge_error: added.edge.error,
      days_since_active:
        record.lastActiveAt === null
          ? null
          : Math.max(0, (Date.parse(asOf) - Date.parse(record.lastActiveAt)) / DAY_MS),
      gated: rated.gated,
    },
    karma: reputationAt(outcomes, author, asOf, rules),
    trust: weightOf(added),
    asOf,
  })
}

const showScore = shown(scoreView)

/** Best first. Only the requested number is kept in order, because there may be many thousand contributors. */
export const viewLeaderboard = ({ byId }: Contributors, scoring: Scoring, limit: number): ScoreView[] => {
  const pointsOf = pointsAt(scoring.asOf, scoring.rules)
  const best: Ranked[] = []
  byId.forEach((contributor) => {
    if (contributor.removed) return
    const key = authorKey(contributor.id, contributor.nodeId)
    const points = pointsOf(contributor.record, scoring.contributions.get(key) ?? NEWCOMER)
    const worst = best[limit - 1]
    if (worst !== undefined && points < worst.points) return
    const candidate = { contributor, points }
    if (worst !== undefined && bestFirst(worst, candidate) < 0) return
    const place = best.findIndex((other) => bestFirst(candidate, other) < 0)
    best.splice(place === -1 ? best.length : place, 0, candidate)
    if (best.length > limit) best.pop()
  })
  return best.map(({ contributor }) => viewScore(contributor, scoring))
}

interface Ranked {
  readonly contributor: Contributor
  /** Its score. */
  readonly points: number
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

const ratio = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole)

export const PROVENANCE_NOTICE = 'Informational only; fields may change.'

const attributionWindow = z.object({
  signals: z.int().min(1),
  hit_rate: z.number().min(0).max(1).meta({ description: 'of calls that were decided in that time' }),
  max_drawdown_pct: z
    .number()
    .max(0)
    .meta({ description: 'deepest fall of the summed returns of its calls' }),
})

export const provenanceView = z.discriminatedUnion('has_provenance', [
  z.object({
    producer_id: z.string(),
    has_provenance: z.literal(true),
    chain_verified: z.boolean().meta({ description: 'the newest 100 events of the log verify' }),
    chain_integrity_spot_checked: z.boolean(),
    total_signals: z.int().min(1),
    p_and_l_attributed: z.boolean(),
    operator_coverage: z.int().min(0).meta({ description: 'distinct contributors behind these signals' }),
    first_seen: z.string(),
    last_seen: z.string(),
    attribution_windows: z
      .object({ '7d': attributionWindow, '30d': attributionWindow, '90d': attributionWindow })
      .partial()
      .meta({ description: 'only windows with signals' }),
    note: z.string(),
  }),
  z.object({ producer_id: z.string(), has_provenance: z.literal(false), note: z.string() }),
])

export type ProvenanceView = z.infer<typeof provenanceView>

export const viewProvenance = (
  { signals: { trails }, reputation: { outcomes } }: Pick<State, 'signals' | 'reputation'>,
  producerId: string,
  { chainOk, now }: { readonly chainOk: boolean; readonly now: Timestamp },
): ProvenanceView => {
  const trail = trailOf(trails, producerId)
  if (trail === null) return unknownProvenance(producerId)
  const authors = authorsOf(trail, producerId)
  return {
    producer_id: producerId,
    has_provenance: true,
    chain_verified: chainOk,
    chain_integrity_spot_checked: chainOk,
    total_signals: trail.signals,
    p_and_l_attributed: authors.some((author) => outcomes.byAuthor.has(author)),
    operator_coverage: trail.contributorIds.length,
    first_seen: trail.firstSeen,
    last_seen: trail.lastSeen,
    attribution_windows: windowsOf(trail, now, (days) => dailyOf(outcomes, authors, now, days)),
    note: 'Counts signals that this engine received and what became of the calls they made.',
  }
}

export const unknownProvenance = (producerId: string): ProvenanceView => ({
  producer_id: producerId,
  has_provenance: false,
  note: 'No provenance data available. Proceeding without attribution context.',
})

const WINDOWS = { '7d': 7, '30d': 30, '90d': 90 } as const

type AttributionWindow = z.infer<typeof attributionWindow>

type Windows = Partial<Record<keyof typeof WINDOWS, AttributionWindow>>

const windowsOf = (trail: Trail, now: Timestamp, daysOf: (windowDays: number) => readonly Tally[]): Windows =>
  Object.fromEntries(
    Object.entries(WINDOWS)
      .map(([name, days]) => [name, signalsWithin(trail, now, days), days] as const)
      .filter(([, signals]) => signals > 0)
      .map(([name, signals, days]) => [name, { signals, ...successOf(daysOf(days)) }]),
  )

/** Author keys behind a node id, or of the producer itself. */
const authorsOf = ({ contributorIds }: Trail, producerId: string): readonly string[] =>
  contributorIds.length === 0
    ? [authorKey(null, producerId)]
    : contributorIds.map((id) => authorKey(id, producerId))

/** Outcomes by day. Usually there is only one author. */
const dailyOf = (
  outcomes: Outcomes,
  authors: readonly string[],
  now: Timestamp,
  windowDays: number,
): readonly Tally[] => {
  const byDay = new Map<number, Tally>()
  for (const author of authors) {
    for (const { day, tally } of daysWithin(outcomes, author, now, windowDays)) {
      byDay.set(day, totalOf([byDay.get(day) ?? NO_TALLY, tally]))
    }
  }
  return [...byDay].toSorted(([one], [other]) => one - other).map(([, tally]) => tally)
}

/** Hit rate, and the largest drawdown of the returns in the direction of the calls, summed by day. */
const successOf = (days: readonly Tally[]): Pick<AttributionWindow, 'hit_rate' | 'max_drawdown_pct'> => {
  const { resolved, hits } = totalOf(days)
  let [sum, peak, deepest] = [0, 0, 0]
  for (const { returns } of days) {
    sum += returns
    peak = Math.max(peak, sum)
    deepest = Math.min(deepest, sum - peak)
  }
  return { hit_rate: resolved === 0 ? 0 : r9(hits / resolved), max_drawdown_pct: r9(deepest) }
}
