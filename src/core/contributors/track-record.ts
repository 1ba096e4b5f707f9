import { DAY_MS, dayOf } from '../vocabulary/time.ts'

/** What a contributor's signals came to, as counters: the cost of a score does not grow with history. */
export interface TrackRecord {
  readonly submitted: number
  readonly accepted: number
  readonly resolved: number
  readonly profitable: number
  /** Weighted by how far the price moved; see `score.ts`. */
  readonly hitWeightSum: number
  readonly weightSum: number
  readonly brierSum: number
  readonly convictionSum: number
  readonly convictionCount: number
  readonly karmaUsd: number
  readonly lastActiveAt: string | null
  /** Consecutive UTC days with an accepted signal, ending at `streakDay`. */
  readonly streakDays: number
  readonly streakDay: string | null
}

export const NO_RECORD: TrackRecord = {
  submitted: 0,
  accepted: 0,
  resolved: 0,
  profitable: 0,
  hitWeightSum: 0,
  weightSum: 0,
  brierSum: 0,
  convictionSum: 0,
  convictionCount: 0,
  karmaUsd: 0,
  lastActiveAt: null,
  streakDays: 0,
  streakDay: null,
}

export const countSubmitted = (record: TrackRecord, at: string, conviction: number | null): TrackRecord => ({
  ...record,
  submitted: record.submitted + 1,
  convictionSum: record.convictionSum + (conviction ?? 0),
  convictionCount: record.convictionCount + (conviction === null ? 0 : 1),
  lastActiveAt: at,
})

export const countAccepted = (record: TrackRecord, at: string): TrackRecord => ({
  ...record,
  accepted: record.accepted + 1,
  ...streakAfter(record, dayOf(at)),
})

const streakAfter = (
  { streakDay, streakDays }: TrackRecord,
  day: string,
): Pick<TrackRecord, 'streakDay' | 'streakDays'> => {
  if (streakDay === day) return { streakDay, streakDays }
  const isNextDay = streakDay !== null && Date.parse(day) - Date.parse(streakDay) === DAY_MS
  return { streakDay: day, streakDays: isNextDay ? streakDays + 1 : 1 }
}
