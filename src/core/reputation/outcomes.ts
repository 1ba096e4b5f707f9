import { Map as PersistentMap } from 'immutable'
import type { KnownEvent, PayloadOf } from '../events/catalogue.ts'
import { authorKey } from '../vocabulary/author-key.ts'
import { DAY_MS } from '../vocabulary/time.ts'
import { formAfter, NO_FORM, type Form } from './form.ts'

/** What the outcomes of some days add up to. */
export interface Tally {
  /** Hits minus base rates: what skill, or luck, added. */
  readonly surplus: number
  /** What it would be if all had hit, and how far below 0 if none had. */
  readonly gainMax: number
  readonly lossMax: number
  /** 1 for each that the market decided, less for feedback. */
  readonly weight: number
  /** Decided by the market, and how many of these hit. */
  readonly resolved: number
  readonly hits: number
  /** Sum of returns in the direction of the calls. */
  readonly returns: number
}

/**
 * By author, the UTC days with outcomes, oldest first: `[day, ...tally, day, ...tally, …]` in the order of `Tally`.
 * Plain numbers, because ten thousand authors with ninety days each have to fit.
 */
export interface Outcomes {
  readonly daysKept: number
  readonly byAuthor: PersistentMap<string, readonly number[]>
  /** After so many newer outcomes one counts half in the form of its author. */
  readonly formHalfLife: number
  readonly form: PersistentMap<string, Form>
}

export const INITIAL_OUTCOMES: Outcomes = {
  daysKept: 90,
  byAuthor: PersistentMap(),
  formHalfLife: 10,
  form: PersistentMap(),
}

export const NO_TALLY: Tally = {
  surplus: 0,
  gainMax: 0,
  lossMax: 0,
  weight: 0,
  resolved: 0,
  hits: 0,
  returns: 0,
}

const STRIDE = 8

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
      }
    }
    default:
      return outcomes
  }
}

export interface DayTally {
  /** Since 1970. */
  readonly day: number
  readonly tally: Tally
}

/** Oldest first, the days up to that of `asOf`. */
export const daysWithin = (
  { byAuthor }: Outcomes,
  author: string,
  asOf: string,
  windowDays: number,
): readonly DayTally[] => {
  const oldest = dayNumber(asOf) - windowDays + 1
  const rows = byAuthor.get(author) ?? []
  const days: DayTally[] = []
  for (let index = 0; index < rows.length; index += STRIDE) {
    const day = rows[index] ?? 0
    if (day >= oldest) days.push({ day, tally: tallyAt(rows, index) })
  }
  return days
}

/** All of them. */
export const tallyWithin = (outcomes: Outcomes, author: string, asOf: string, windowDays: number): Tally =>
  sumOf(daysWithin(outcomes, author, asOf, windowDays).map(({ tally }) => tally))

export const sumOf = (days: readonly Tally[]): Tally => days.reduce(added, NO_TALLY)

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
  const { daysKept, byAuthor, formHalfLife, form } = outcomes
  const day = dayNumber(at)
  const known = byAuthor.get(author) ?? []
  const isNewDay = known[known.length - STRIDE] !== day
  const today = isNewDay ? outcome : added(tallyAt(known, known.length - STRIDE), outcome)
  const earlier = isNewDay ? known : known.slice(0, -STRIDE)
  const kept = earlier.slice(Math.max(0, earlier.length - (daysKept - 1) * STRIDE))
  return {
    daysKept,
    byAuthor: byAuthor.set(author, [...kept, day, ...rowOf(today)]),
    formHalfLife,
    form: form.set(author, formAfter(form.get(author) ?? NO_FORM, outcome, formHalfLife)),
  }
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

const rowOf = (tally: Tally): readonly number[] => [
  tally.surplus,
  tally.gainMax,
  tally.lossMax,
  tally.weight,
  tally.resolved,
  tally.hits,
  tally.returns,
]

const tallyAt = (rows: readonly number[], index: number): Tally => ({
  surplus: rows[index + 1] ?? 0,
  gainMax: rows[index + 2] ?? 0,
  lossMax: rows[index + 3] ?? 0,
  weight: rows[index + 4] ?? 0,
  resolved: rows[index + 5] ?? 0,
  hits: rows[index + 6] ?? 0,
  returns: rows[index + 7] ?? 0,
})

const added = (one: Tally, other: Tally): Tally => ({
  surplus: one.surplus + other.surplus,
  gainMax: one.gainMax + other.gainMax,
  lossMax: one.lossMax + other.lossMax,
  weight: one.weight + other.weight,
  resolved: one.resolved + other.resolved,
  hits: one.hits + other.hits,
  returns: one.returns + other.returns,
})

const dayNumber = (ts: string): number => Math.floor(Date.parse(ts) / DAY_MS)
