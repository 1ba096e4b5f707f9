import { DAY_MS } from '../vocabulary/time.ts'
import type { TrackRecord } from './track-record.ts'

export interface Factor {
  readonly value: number
  readonly weight: number
  readonly contribution: number
}

export interface Score {
  /** 0..100 */
  readonly score: number
  readonly gated: boolean
  readonly brierScore: number
  /** From near 0 to 1: how much activity counts, by what is known of its outcomes. */
  readonly evidence: number
  readonly factors: Readonly<
    Record<'hit_rate' | 'calibration' | 'volume' | 'consistency' | 'recency', Factor>
  >
}

export interface ScoreRules {
  /** Activity counts little without outcomes: so many resolved calls make it count half. */
  readonly evidence_k: number
}

const RESOLVED_MIN = 5
const LOG_101 = Math.log(101)

/**
 * Five factors, 0..100, as of a time. Hit rate, calibration and recency use everything submitted, accepted or not,
 * so being picked cannot flatter.
 */
export const scoreAt = (record: TrackRecord, asOf: string, rules: ScoreRules): Score =>
  scorerAt(asOf, rules)(record)

/** The same for many: what depends on the time alone is worked out once. */
export const scorerAt = (asOf: string, rules: ScoreRules): ((record: TrackRecord) => Score) => {
  const recencyOf = recencyAt(asOf)
  return (record) => scored(record, recencyOf(record.lastActiveAt), rules)
}

const scored = (record: TrackRecord, recency: number, { evidence_k }: ScoreRules): Score => {
  const enough = record.resolved >= RESOLVED_MIN
  const brierScore = enough ? record.brierSum / record.resolved : 0.25
  const evidence = (record.resolved + 1) / (record.resolved + 1 + evidence_k)
  const factors = {
    hit_rate: factor(0.35, enough ? hitValue(record.hitWeightSum / record.weightSum) : 0),
    calibration: factor(0.2, clamp01(1 - brierScore / 0.25)),
    volume: factor(0.2, clamp01(Math.log(1 + record.accepted) / LOG_101), evidence),
    consistency: factor(0.15, clamp01(Math.sqrt(record.streakDays / 30)), evidence),
    recency: factor(0.1, recency),
  }
  const gated = record.submitted >= 10 && record.accepted / record.submitted < 0.1
  // Written out: this is counted for thousands of contributors at once.
  const sum =
    factors.hit_rate.contribution +
    factors.calibration.contribution +
    factors.volume.contribution +
    factors.consistency.contribution +
    factors.recency.contribution
  return { score: gated ? 0 : 100 * clamp01(sum), gated, brierScore, evidence, factors }
}

const factor = (weight: number, value: number, evidence = 1): Factor => ({
  value,
  weight,
  contribution: weight * evidence * value,
})

/** Worse than one in five counts against the author. */
const hitValue = (hitRate: number): number => (hitRate < 0.2 ? (-0.1 * (0.2 - hitRate)) / 0.2 : hitRate)

const FRESH_DAYS = 7
const FADING_DAYS = 30

/** 1 up to 7 days after the last submission, then linear to 0 over 30 days. */
const recencyAt = (asOf: string): ((lastActiveAt: string | null) => number) => {
  const asOfMs = Date.parse(asOf)
  const before = (days: number): string => new Date(asOfMs - days * DAY_MS).toISOString()
  const fresh = before(FRESH_DAYS)
  const forgotten = before(FRESH_DAYS + FADING_DAYS)
  return (lastActiveAt) => {
    // Timestamps compare as text, which is much faster than reading them.
    if (lastActiveAt === null || lastActiveAt <= forgotten) return 0
    if (lastActiveAt >= fresh) return 1
    return clamp01(1 - ((asOfMs - Date.parse(lastActiveAt)) / DAY_MS - FRESH_DAYS) / FADING_DAYS)
  }
}

const clamp01 = (value: number): number => Math.min(1, Math.max(0, value))
