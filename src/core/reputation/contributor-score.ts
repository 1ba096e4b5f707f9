import type { Timestamp } from '../shared/brand.ts'
import { naturalLog } from '../shared/numbers.ts'
import { DAY_MS, timestampAt } from '../shared/time.ts'
import type { TrackRecord } from '../signals/track-record.ts'

interface Factor {
  readonly value: number
  readonly weight: number
  readonly contribution: number
}

interface Score {
  /** 0..100 */
  readonly score: number
  readonly gated: boolean
  readonly brierScore: number
  /** 0 to 1: how much activity counts, by the number of resolved calls. */
  readonly evidence: number
  readonly factors: Readonly<
    Record<'hit_rate' | 'calibration' | 'volume' | 'consistency' | 'recency', Factor>
  >
}

export interface ScoreRules {
  /** With this many resolved calls activity counts half. */
  readonly evidence_k: number
}

const RESOLVED_MIN = 5
const LOG_101 = naturalLog(101)

/**
 * Five factors, 0..100, as of a time. Hit rate, calibration and recency use all submitted signals, accepted or not,
 * so that the brain's selection does not distort them.
 */
export const scoreAt = (record: TrackRecord, asOf: Timestamp, rules: ScoreRules): Score => {
  const evidence = evidenceOf(record, rules)
  return {
    score: pointsAt(asOf, rules)(record),
    gated: isGated(record),
    brierScore: brierOf(record),
    evidence,
    factors: {
      hit_rate: factor(HIT_RATE, hitValue(record)),
      calibration: factor(CALIBRATION, calibrationValue(record)),
      volume: factor(VOLUME, volumeValue(record), evidence),
      consistency: factor(CONSISTENCY, consistencyValue(record), evidence),
      recency: factor(RECENCY, recencyAt(asOf)(record.lastActiveAt)),
    },
  }
}

/** The score alone, for many contributors: what depends only on the time is computed once. */
export const pointsAt = (asOf: Timestamp, rules: ScoreRules): ((record: TrackRecord) => number) => {
  const recencyOf = recencyAt(asOf)
  return (record) => {
    if (isGated(record)) return 0
    const evidence = evidenceOf(record, rules)
    return (
      100 *
      clamp01(
        HIT_RATE * hitValue(record) +
          CALIBRATION * calibrationValue(record) +
          VOLUME * evidence * volumeValue(record) +
          CONSISTENCY * evidence * consistencyValue(record) +
          RECENCY * recencyOf(record.lastActiveAt),
      )
    )
  }
}

const HIT_RATE = 0.35
const CALIBRATION = 0.2
const VOLUME = 0.2
const CONSISTENCY = 0.15
const RECENCY = 0.1

const factor = (weight: number, value: number, evidence = 1): Factor => ({
  value,
  weight,
  contribution: weight * evidence * value,
})

const isGated = ({ submitted, accepted }: TrackRecord): boolean =>
  submitted >= 10 && accepted / submitted < 0.1

const evidenceOf = ({ resolved }: TrackRecord, { evidence_k }: ScoreRules): number =>
  (resolved + 1) / (resolved + 1 + evidence_k)

/** Worse than one in five counts against the author. */
const hitValue = ({ resolved, hitWeightSum, weightSum }: TrackRecord): number => {
  if (resolved < RESOLVED_MIN) return 0
  const hitRate = hitWeightSum / weightSum
  return hitRate < 0.2 ? (-0.1 * (0.2 - hitRate)) / 0.2 : hitRate
}

const brierOf = ({ resolved, brierSum }: TrackRecord): number =>
  resolved < RESOLVED_MIN ? 0.25 : brierSum / resolved

const calibrationValue = (record: TrackRecord): number => clamp01(1 - brierOf(record) / 0.25)

const volumeValue = ({ accepted }: TrackRecord): number => clamp01(naturalLog(1 + accepted) / LOG_101)

const consistencyValue = ({ streakDays }: TrackRecord): number => clamp01(Math.sqrt(streakDays / 30))

const FRESH_DAYS = 7
const FADING_DAYS = 30

/** 1 up to 7 days after the last submission, then linear to 0 over 30 days. */
const recencyAt = (asOf: Timestamp): ((lastActiveAt: Timestamp | null) => number) => {
  const asOfMs = Date.parse(asOf)
  const before = (days: number): string => timestampAt(asOfMs - days * DAY_MS)
  const fresh = before(FRESH_DAYS)
  const forgotten = before(FRESH_DAYS + FADING_DAYS)
  return (lastActiveAt) => {
    // Timestamps compare as text, which is much faster than parsing them.
    if (lastActiveAt === null || lastActiveAt <= forgotten) return 0
    if (lastActiveAt >= fresh) return 1
    return clamp01(1 - ((asOfMs - Date.parse(lastActiveAt)) / DAY_MS - FRESH_DAYS) / FADING_DAYS)
  }
}

const clamp01 = (value: number): number => Math.min(1, Math.max(0, value))
