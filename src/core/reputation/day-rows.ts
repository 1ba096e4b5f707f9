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
 * The UTC days with outcomes of an author, oldest first: `[day, ...tally, day, ...tally, …]` in the order of `Tally`.
 * Plain numbers, because ten thousand authors with ninety days each have to fit.
 */
export type DayRows = readonly number[]

export interface DayTally {
  /** Since 1970. */
  readonly day: number
  readonly tally: Tally
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

/** An outcome of today, which is never before the last day there is. Days that are over are left behind. */
export const withOutcome = (rows: DayRows, today: number, outcome: Tally, daysKept: number): DayRows => {
  let first = 0
  while (first < rows.length && (rows[first] ?? 0) <= today - daysKept) first += STRIDE
  const counted = rows.slice(first)
  const last = counted.length - STRIDE
  const at = counted[last] === today ? last : counted.length
  const before = at === last ? tallyAt(counted, last) : NO_TALLY
  counted[at] = today
  counted[at + 1] = before.surplus + outcome.surplus
  counted[at + 2] = before.gainMax + outcome.gainMax
  counted[at + 3] = before.lossMax + outcome.lossMax
  counted[at + 4] = before.weight + outcome.weight
  counted[at + 5] = before.resolved + outcome.resolved
  counted[at + 6] = before.hits + outcome.hits
  counted[at + 7] = before.returns + outcome.returns
  return counted
}

/** Those from a day on, oldest first. */
export const talliesFrom = (rows: DayRows, oldest: number): readonly DayTally[] => {
  const days: DayTally[] = []
  for (let index = 0; index < rows.length; index += STRIDE) {
    const day = rows[index] ?? 0
    if (day >= oldest) days.push({ day, tally: tallyAt(rows, index) })
  }
  return days
}

export const lastDayOf = (rows: DayRows): number => rows[rows.length - STRIDE] ?? 0

export const sumOf = (days: readonly Tally[]): Tally => days.reduce(added, NO_TALLY)

const STRIDE = 8

const tallyAt = (rows: DayRows, index: number): Tally => ({
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
