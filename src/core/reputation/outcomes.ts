import { Map as PersistentMap } from 'immutable'
import type { KnownEvent, PayloadOf } from '../events/catalogue.ts'
import { authorKey } from '../shared/author-key.ts'
import { dayNumber } from '../shared/time.ts'
import {
  lastDayOf,
  NO_TALLY,
  sumOf,
  talliesFrom,
  withOutcome,
  type DayRows,
  type DayTally,
  type Tally,
} from './day-rows.ts'
import { recentSkillAfter, NO_RECENT_SKILL, type RecentSkill } from './recent-skill.ts'

/** What came of the calls of each author. */
export interface Outcomes {
  readonly daysKept: number
  readonly byAuthor: PersistentMap<string, DayRows>
  /** After so many newer outcomes one counts half in the form of its author. */
  readonly formHalfLife: number
  readonly form: PersistentMap<string, RecentSkill>
  /** The UTC day on which those who have long been silent were last let go. */
  readonly sweptDay: number
}

export const INITIAL_OUTCOMES: Outcomes = {
  daysKept: 90,
  byAuthor: PersistentMap(),
  formHalfLife: 10,
  form: PersistentMap(),
  sweptDay: 0,
}

/** Beyond this, newcomers are not judged until a day has passed and the silent have made room. */
export const AUTHORS_MAX = 100_000

/** Nobody knows how often agents praise by chance. */
const FEEDBACK_BASE_RATE = 0.5

export const evolveOutcomes = (outcomes: Outcomes, event: KnownEvent): Outcomes => {
  switch (event.type) {
    case 'attribution.measured.v1':
      return measured(outcomes, event.payload, event.ts)
    case 'attribution.resolved.v1':
      // What trades came to is no measure of one author: all who were for it share one result.
      return event.payload.resolved_by === 'trade' ? outcomes : measured(outcomes, event.payload, event.ts)
    case 'learning.feedback.v1': {
      const { contributor_id, producer_id, outcome, counted: counts, weight } = event.payload
      if (counts !== true || typeof weight !== 'number') return outcomes
      const author = authorKey(contributor_id ?? null, producer_id)
      const said = judged(outcome === 'profit', FEEDBACK_BASE_RATE, weight, NO_TALLY)
      return counted(outcomes, author, event.ts, said)
    }
    case 'system.started.v1': {
      const { outcome_days: daysKept, form_half_life: formHalfLife } = event.payload.folding ?? {}
      return {
        daysKept: daysKept ?? outcomes.daysKept,
        byAuthor: outcomes.byAuthor,
        formHalfLife: formHalfLife ?? outcomes.formHalfLife,
        form: outcomes.form,
        sweptDay: outcomes.sweptDay,
      }
    }
    case 'brain.cycle.v1':
      return swept(outcomes, dayNumber(event.ts))
    default:
      return outcomes
  }
}

/** Oldest first, the days up to that of `asOf`. */
export const daysWithin = (
  { byAuthor }: Outcomes,
  author: string,
  asOf: string,
  windowDays: number,
): readonly DayTally[] => talliesFrom(byAuthor.get(author) ?? [], dayNumber(asOf) - windowDays + 1)

/** All of them. */
export const tallyWithin = (outcomes: Outcomes, author: string, asOf: string, windowDays: number): Tally =>
  sumOf(daysWithin(outcomes, author, asOf, windowDays).map(({ tally }) => tally))

type Measure = Pick<
  PayloadOf<'attribution.measured.v1'>,
  'contributor_id' | 'producer_id' | 'hit' | 'base_rate' | 'direction' | 'return_pct'
>

const measured = (outcomes: Outcomes, measure: Measure, at: string): Outcomes => {
  const { contributor_id, producer_id, hit, base_rate: rate } = measure
  // Also for what is left of a damaged event, which says nothing.
  if (typeof hit !== 'boolean' || typeof rate !== 'number') return outcomes
  const market = { resolved: 1, hits: hit ? 1 : 0, returns: returnOf(measure) }
  return counted(outcomes, authorKey(contributor_id, producer_id), at, judged(hit, rate, 1, market))
}

const counted = (outcomes: Outcomes, author: string, at: string, outcome: Tally): Outcomes => {
  const { daysKept, byAuthor, formHalfLife, form, sweptDay } = outcomes
  const known = form.get(author)
  if (known === undefined && form.size >= AUTHORS_MAX) return outcomes
  const rows = withOutcome(byAuthor.get(author) ?? [], dayNumber(at), outcome, daysKept)
  return {
    daysKept,
    byAuthor: byAuthor.set(author, rows),
    formHalfLife,
    form: form.set(author, recentSkillAfter(known ?? NO_RECENT_SKILL, outcome, formHalfLife)),
    sweptDay,
  }
}

/** Once a day. Days that no window reaches go; the form of the silent goes only where others need the room. */
const swept = (outcomes: Outcomes, today: number): Outcomes => {
  const { daysKept, formHalfLife } = outcomes
  if (!(today > outcomes.sweptDay)) return outcomes
  const silent = keysOf(outcomes.byAuthor, (rows) => lastDayOf(rows) <= today - daysKept)
  const byAuthor = silent.length === 0 ? outcomes.byAuthor : outcomes.byAuthor.deleteAll(silent)
  const form =
    outcomes.form.size < AUTHORS_MAX
      ? outcomes.form
      : outcomes.form.filter((_form, author) => byAuthor.has(author))
  return { daysKept, byAuthor, formHalfLife, form, sweptDay: today }
}

const keysOf = (rows: Outcomes['byAuthor'], isMeant: (rows: DayRows) => boolean): readonly string[] => {
  const keys: string[] = []
  rows.forEach((own, author) => {
    if (isMeant(own)) keys.push(author)
  })
  return keys
}

const judged = (
  hit: boolean,
  rate: number,
  weight: number,
  { resolved, hits, returns }: Pick<Tally, 'resolved' | 'hits' | 'returns'>,
): Tally => ({
  surplus: weight * ((hit ? 1 : 0) - rate),
  gainMax: weight * (1 - rate),
  lossMax: weight * rate,
  weight,
  resolved,
  hits,
  returns,
})

const returnOf = ({ direction, return_pct: moved }: Measure): number => {
  if (moved === null || direction === 'neutral') return 0
  return direction === 'bearish' ? -moved : moved
}
