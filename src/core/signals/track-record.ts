import type { Timestamp } from '../shared/brand.ts'
import type { PayloadOf } from '../events/catalogue.ts'
import { NO_USD, plus, type Usd } from '../shared/money.ts'
import { DAY_MS, dayOf } from '../shared/time.ts'

/** The results of a contributor's signals, as counters, so that the cost of a score does not depend on the history. */
export interface TrackRecord {
  readonly submitted: number
  readonly accepted: number
  readonly resolved: number
  readonly profitable: number
  /** Sum of hits, weighted by the size of the price move. */
  readonly hitWeightSum: number
  readonly weightSum: number
  readonly brierSum: number
  readonly convictionSum: number
  readonly convictionCount: number
  readonly accrued: Usd
  readonly lastActiveAt: Timestamp | null
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
  accrued: NO_USD,
  lastActiveAt: null,
  streakDays: 0,
  streakDay: null,
}

export const countSubmitted = (
  record: TrackRecord,
  at: Timestamp,
  conviction: number | null,
): TrackRecord => ({
  ...record,
  submitted: record.submitted + 1,
  convictionSum: finite(record.convictionSum + (conviction ?? 0)),
  convictionCount: record.convictionCount + (conviction === null ? 0 : 1),
  lastActiveAt: at,
})

/** Bounds a sum. The score of a payload may be any number, but a snapshot cannot store an infinite one. */
const finite = (sum: number): number => Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, sum))

export const countAccepted = (record: TrackRecord, at: Timestamp): TrackRecord => ({
  ...record,
  accepted: record.accepted + 1,
  ...streakAfter(record, dayOf(at)),
})

/** Counts a call once, whichever of its signals was used. */
export const countResolved = (record: TrackRecord, verdict: RatedCall): TrackRecord => {
  const hit = verdict.hit === true ? 1 : 0
  const weight = weightOf(verdict)
  const miss = verdict.probability - hit
  return {
    ...record,
    resolved: record.resolved + 1,
    profitable: record.profitable + hit,
    hitWeightSum: record.hitWeightSum + weight * hit,
    weightSum: record.weightSum + weight,
    brierSum: record.brierSum + miss * miss,
  }
}

export const countAccrued = (record: TrackRecord, amount: Usd): TrackRecord => ({
  ...record,
  accrued: plus(record.accrued, amount),
})

type RatedCall = Pick<
  PayloadOf<'attribution.resolved.v1'>,
  'hit' | 'probability' | 'direction' | 'return_pct' | 'band_pct'
>

/** Larger moves count more, within limits. Neutral calls count 1. */
const weightOf = ({ direction, return_pct: moved, band_pct: band }: RatedCall): number => {
  if (direction === 'neutral' || moved === null || band === null || band === 0) return 1
  return Math.min(2, Math.max(0.5, Math.abs(moved) / (2 * band)))
}

const streakAfter = (
  { streakDay, streakDays }: TrackRecord,
  day: string,
): Pick<TrackRecord, 'streakDay' | 'streakDays'> => {
  if (streakDay === day) return { streakDay, streakDays }
  const isNextDay = streakDay !== null && Date.parse(day) - Date.parse(streakDay) === DAY_MS
  return { streakDay: day, streakDays: isNextDay ? streakDays + 1 : 1 }
}
