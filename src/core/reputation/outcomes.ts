import type { Timestamp } from '../shared/brand.ts'
import { Map as PersistentMap } from 'immutable'
import type { KnownEvent, PayloadOf } from '../events/catalogue.ts'
import { authorKey } from '../shared/author-key.ts'
import { clamp } from '../shared/numbers.ts'
import { DAY_MS, dayNumber, HORIZON_MS, horizonIn } from '../shared/time.ts'
import { driftOf, moveRate } from './base-rates.ts'
import type { Calls } from './calls.ts'
import { edgeAfter, NO_EDGE, type Edge, type GradedOutcome } from './edge.ts'

/** The outcomes of each author's calls. */
export interface Outcomes {
  readonly daysKept: number
  readonly byAuthor: PersistentMap<string, DayRows>
  /** Sum of spacings of newer outcomes after which an outcome counts half in `edges`. */
  readonly edgeHalfLife: number
  readonly edges: PersistentMap<string, Edge>
  /** UTC day of the last sweep. */
  readonly sweptDay: number
}

export const INITIAL_OUTCOMES: Outcomes = {
  daysKept: 90,
  byAuthor: PersistentMap(),
  edgeHalfLife: 100,
  edges: PersistentMap(),
  sweptDay: 0,
}

/** Limit of authors. Beyond it, outcomes of new authors are not counted until the daily sweep makes room. */
export const AUTHORS_MAX = 100_000

/** Assumed, because the base rate of feedback is unknown. */
const FEEDBACK_BASE_RATE = 0.5

/** State of the calls before the event. */
type CallsBefore = Pick<Calls, 'open' | 'rates'>

export const evolveOutcomes = (outcomes: Outcomes, event: KnownEvent, calls: CallsBefore): Outcomes => {
  switch (event.type) {
    case 'attribution.measured.v1':
      return measured(outcomes, event.payload, event.ts, calls)
    case 'attribution.resolved.v1':
      // The result of a trade measures no single author: all its supporters share it.
      return event.payload.resolved_by === 'trade'
        ? outcomes
        : measured(outcomes, event.payload, event.ts, calls)
    case 'learning.feedback.v1': {
      const { contributor_id, producer_id, outcome, counted: counts, weight } = event.payload
      if (counts !== true || typeof weight !== 'number') return outcomes
      const author = authorKey(contributor_id ?? null, producer_id)
      const tally = judged(outcome === 'profit' ? 1 : 0, FEEDBACK_BASE_RATE, weight, {
        ...NO_TALLY,
        evidence: weight,
      })
      return counted(outcomes, author, event.ts, tally, null)
    }
    case 'system.started.v1': {
      const { outcome_days: daysKept, edge_half_life: halfLife } = event.payload.folding ?? {}
      return {
        daysKept: daysKept ?? outcomes.daysKept,
        byAuthor: outcomes.byAuthor,
        edgeHalfLife: halfLife ?? outcomes.edgeHalfLife,
        edges: outcomes.edges,
        sweptDay: outcomes.sweptDay,
      }
    }
    case 'brain.cycle.v1':
      return swept(outcomes, dayNumber(event.ts))
    default:
      return outcomes
  }
}

/** Days of the window that ends with `asOf`, oldest first. */
export const daysWithin = (
  { byAuthor }: Outcomes,
  author: string,
  asOf: Timestamp,
  windowDays: number,
): readonly DayTally[] => talliesFrom(byAuthor.get(author) ?? [], dayNumber(asOf) - windowDays + 1)

export const tallyWithin = (outcomes: Outcomes, author: string, asOf: Timestamp, windowDays: number): Tally =>
  totalOf(daysWithin(outcomes, author, asOf, windowDays).map(({ tally }) => tally))

type Measure = Pick<
  PayloadOf<'attribution.measured.v1'>,
  | 'call_id'
  | 'contributor_id'
  | 'producer_id'
  | 'hit'
  | 'base_rate'
  | 'direction'
  | 'return_pct'
  | 'band_pct'
  | 'horizon'
>

const measured = (
  outcomes: Outcomes,
  measure: Measure,
  at: Timestamp,
  { open, rates }: CallsBefore,
): Outcomes => {
  const { contributor_id, producer_id, hit, base_rate: rate } = measure
  // A damaged event may lack these members.
  if (typeof hit !== 'boolean' || typeof rate !== 'number') return outcomes
  const spacing = open.get(measure.call_id)?.spacing ?? 1
  const market = { evidence: spacing, resolved: 1, hits: hit ? 1 : 0, returns: returnOf(measure) }
  const author = authorKey(contributor_id, producer_id)
  const graded = gradeOf(measure)
  if (graded === null) {
    const forEdge = { surplus: AS_EXPECTED, spacing, days: daysOf(measure.horizon) }
    return counted(outcomes, author, at, judged(hit ? 1 : 0, rate, 1, market), forEdge)
  }
  const { grade, side } = graded
  const { horizon } = measure
  const drift = moveRate(rates, horizon, 'up', DRIFT_PRIOR) - moveRate(rates, horizon, 'down', DRIFT_PRIOR)
  const surplus = grade - expectedOf(side, driftOf(rates, horizon))
  const forEdge = { surplus, spacing, days: daysOf(horizon) }
  return counted(outcomes, author, at, judged(grade, expectedOf(side, drift), 1, market), forEdge)
}

/**
 * Grade from 0 (the price moved the other way) to 1 (it moved the called way); 0.5 if it did not move. Unlike hits and
 * misses, the grade also counts moves inside the band, so skill shows sooner. Null for a neutral call, which has only
 * its hit.
 */
const gradeOf = ({
  direction,
  return_pct: moved,
  band_pct: band,
}: Measure): { readonly grade: number; readonly side: 1 | -1 } | null => {
  if (direction === 'neutral' || typeof moved !== 'number' || typeof band !== 'number' || !(band > 0))
    return null
  const side = direction === 'bullish' ? 1 : -1
  return { grade: (1 + side * clamp(moved / band)) / 2, side }
}

/** Expected grade of a call in that direction. */
const expectedOf = (side: 1 | -1, drift: number): number => (1 + side * drift) / 2

/**
 * Number of cases without drift that are assumed initially, for reputation. There, calls of one day that win together
 * count in full, so the drift must adapt at once. The edge discounts such days, and uses the drift over days, which no
 * author can influence.
 */
const DRIFT_PRIOR = 10

/**
 * Surplus of a neutral call, right or wrong. A prediction that the price stays shows no knowledge of its direction, and
 * everyone can see whether a market is quiet, so it is no evidence about the other calls of the author.
 */
const AS_EXPECTED = 0

/** A damaged event may have an unknown horizon. */
const daysOf = (horizon: unknown): number => Math.max(1, HORIZON_MS[horizonIn(horizon) ?? '24h'] / DAY_MS)

/** `forEdge` is null for feedback: praise by friends must not raise an author's share of the vote, nor of the money. */
const counted = (
  outcomes: Outcomes,
  author: string,
  at: Timestamp,
  outcome: Tally,
  forEdge: GradedOutcome | null,
): Outcomes => {
  const { daysKept, byAuthor, edgeHalfLife, edges, sweptDay } = outcomes
  if (!mayHold(edges, author) || !mayHold(byAuthor, author)) return outcomes
  const today = dayNumber(at)
  const rows = withOutcome(byAuthor.get(author) ?? [], today, outcome, daysKept)
  return {
    daysKept,
    byAuthor: byAuthor.set(author, rows),
    edgeHalfLife,
    edges:
      forEdge === null
        ? edges
        : edges.set(author, edgeAfter(edges.get(author) ?? NO_EDGE, forEdge, today, edgeHalfLife)),
    sweptDay,
  }
}

const mayHold = (authors: PersistentMap<string, unknown>, author: string): boolean =>
  authors.size < AUTHORS_MAX || authors.has(author)

/** Runs once a day. Drops days that no window reaches, and the edges of inactive authors if the table is full. */
const swept = (outcomes: Outcomes, today: number): Outcomes => {
  const { daysKept, edgeHalfLife } = outcomes
  if (today === outcomes.sweptDay || Number.isNaN(today)) return outcomes
  const inactive = keysOf(outcomes.byAuthor, (rows) => lastDayOf(rows) <= today - daysKept)
  const byAuthor = inactive.length === 0 ? outcomes.byAuthor : outcomes.byAuthor.deleteAll(inactive)
  const edges =
    outcomes.edges.size < AUTHORS_MAX
      ? outcomes.edges
      : outcomes.edges.filter((_edge, author) => byAuthor.has(author))
  return { daysKept, byAuthor, edgeHalfLife, edges, sweptDay: today }
}

const keysOf = (rows: Outcomes['byAuthor'], isMeant: (rows: DayRows) => boolean): readonly string[] => {
  const keys: string[] = []
  rows.forEach((own, author) => {
    if (isMeant(own)) keys.push(author)
  })
  return keys
}

const judged = (
  grade: number,
  expected: number,
  weight: number,
  { evidence, resolved, hits, returns }: Pick<Tally, 'evidence' | 'resolved' | 'hits' | 'returns'>,
): Tally => ({
  surplus: weight * (grade - expected),
  gainMax: weight * (1 - expected),
  lossMax: weight * expected,
  weight,
  evidence,
  resolved,
  hits,
  returns,
})

const returnOf = ({ direction, return_pct: moved }: Measure): number => {
  if (moved === null || direction === 'neutral') return 0
  return direction === 'bearish' ? -moved : moved
}

/** Sums of the outcomes of some days. */
export interface Tally {
  /** Sum of grades minus their expectations. */
  readonly surplus: number
  /** Surplus if all calls had been fully right, and deficit if all had been fully wrong. */
  readonly gainMax: number
  readonly lossMax: number
  /** 1 for each outcome that the market decided, less for feedback. */
  readonly weight: number
  /**
   * Like `weight`, but lower for a call that closely follows the author's previous call, which makes it weaker
   * evidence.
   */
  readonly evidence: number
  /** Number of outcomes that the market decided, and of the hits among them. */
  readonly resolved: number
  readonly hits: number
  /** Sum of returns in the direction of the calls. */
  readonly returns: number
}

/**
 * The UTC days with outcomes of an author, oldest first: `[day, ...tally, day, ...tally, …]` in the order of `Tally`.
 * Plain numbers, because ten thousand authors with ninety days each have to fit.
 */
type DayRows = readonly number[]

interface DayTally {
  /** UTC day since 1970. */
  readonly day: number
  readonly tally: Tally
}

export const NO_TALLY: Tally = {
  surplus: 0,
  gainMax: 0,
  lossMax: 0,
  weight: 0,
  evidence: 0,
  resolved: 0,
  hits: 0,
  returns: 0,
}

/** Adds an outcome of today, which is never before the last day in `rows`. Drops days beyond `daysKept`. */
const withOutcome = (rows: DayRows, today: number, outcome: Tally, daysKept: number): DayRows => {
  let first = 0
  while (first < rows.length && (rows[first] ?? 0) <= today - daysKept) first += STRIDE
  const kept = rows.slice(first)
  const last = kept.length - STRIDE
  const at = kept[last] === today ? last : kept.length
  const before = at === last ? tallyAt(kept, last) : NO_TALLY
  kept[at] = today
  kept[at + 1] = before.surplus + outcome.surplus
  kept[at + 2] = before.gainMax + outcome.gainMax
  kept[at + 3] = before.lossMax + outcome.lossMax
  kept[at + 4] = before.weight + outcome.weight
  kept[at + 5] = before.evidence + outcome.evidence
  kept[at + 6] = before.resolved + outcome.resolved
  kept[at + 7] = before.hits + outcome.hits
  kept[at + 8] = before.returns + outcome.returns
  return kept
}

const talliesFrom = (rows: DayRows, oldest: number): readonly DayTally[] => {
  const days: DayTally[] = []
  for (let index = 0; index < rows.length; index += STRIDE) {
    const day = rows[index] ?? 0
    if (day >= oldest) days.push({ day, tally: tallyAt(rows, index) })
  }
  return days
}

const lastDayOf = (rows: DayRows): number => rows[rows.length - STRIDE] ?? 0

export const totalOf = (days: readonly Tally[]): Tally => days.reduce(added, NO_TALLY)

const STRIDE = 9

const tallyAt = (rows: DayRows, index: number): Tally => ({
  surplus: rows[index + 1] ?? 0,
  gainMax: rows[index + 2] ?? 0,
  lossMax: rows[index + 3] ?? 0,
  weight: rows[index + 4] ?? 0,
  evidence: rows[index + 5] ?? 0,
  resolved: rows[index + 6] ?? 0,
  hits: rows[index + 7] ?? 0,
  returns: rows[index + 8] ?? 0,
})

const added = (one: Tally, other: Tally): Tally => ({
  surplus: one.surplus + other.surplus,
  gainMax: one.gainMax + other.gainMax,
  lossMax: one.lossMax + other.lossMax,
  weight: one.weight + other.weight,
  evidence: one.evidence + other.evidence,
  resolved: one.resolved + other.resolved,
  hits: one.hits + other.hits,
  returns: one.returns + other.returns,
})
