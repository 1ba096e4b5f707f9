import type { Timestamp } from '../shared/brand.ts'
import { clamp01, naturalLog } from '../shared/numbers.ts'
import { DAY_MS, timestampAt } from '../shared/time.ts'
import type { TrackRecord } from '../signals/track-record.ts'
import type { Contribution } from './contribution.ts'

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
  /** Weight of activity, 0 to 1, by the number of resolved calls and by their contribution. */
  readonly evidence: number
  readonly factors: Readonly<
    Record<'hit_rate' | 'calibration' | 'volume' | 'consistency' | 'recency', Factor>
  >
}

export interface ScoreRules {
  /** Number of resolved calls at which activity counts half. */
  readonly evidence_k: number
}

const RESOLVED_MIN = 5
const LOG_101 = naturalLog(101)

/** Contribution of the calls, reduced to the members that the score needs. */
export type Added = Pick<Contribution, 'own' | 'edge' | 'newcomer'>

/**
 * Five factors at a given time, 0 to 100. Hit rate, calibration and recency use all submitted signals, accepted or not,
 * so that the brain's selection does not distort them.
 */
export const scoreAt = (record: TrackRecord, added: Added, asOf: Timestamp, rules: ScoreRules): Score => {
  const evidence = evidenceOf(record, added, rules)
  return {
    score: pointsAt(asOf, rules)(record, added),
    gated: isGated(record),
    brierScore: brierOf(record),
    evidence,
    factors: {
      hit_rate: factor(HIT_RATE, hitValue(record, added)),
      calibration: factor(CALIBRATION, calibrationValue(record)),
      volume: factor(VOLUME, volumeValue(record), evidence),
      consistency: factor(CONSISTENCY, consistencyValue(record), evidence),
      recency: factor(RECENCY, recencyAt(asOf)(record.lastActiveAt)),
    },
  }
}

/** The score alone, for many contributors. Computes once what depends only on the time. */
export const pointsAt = (
  asOf: Timestamp,
  rules: ScoreRules,
): ((record: TrackRecord, added: Added) => number) => {
  const recencyOf = recencyAt(asOf)
  return (record, added) => {
    if (isGated(record)) return 0
    const evidence = evidenceOf(record, added, rules)
    return (
      100 *
      clamp01(
        HIT_RATE * hitValue(record, added) +
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

/**
 * Weight of activity. Signals that add nothing count as no work, however many there are. Newcomers are exempt, because
 * they could not show yet what their signals add.
 */
const evidenceOf = (
  { resolved }: TrackRecord,
  { own, newcomer }: Added,
  { evidence_k }: ScoreRules,
): number => Math.max(newcomer, clamp01(own / ACTIVE_EDGE)) * ((resolved + 1) / (resolved + 1 + evidence_k))

/** Contribution at which activity counts in full. */
const ACTIVE_EDGE = 0.1
/** Contribution at which the factor reaches its maximum: that of an author who is right in about 65 of 100 cases. */
const BEST_EDGE = 0.2

/**
 * Factor for the contribution beyond chance and beyond earlier authors. It is negative for calls that are significantly
 * worse than chance.
 */
const hitValue = ({ resolved }: TrackRecord, { own, edge }: Added): number => {
  if (resolved < RESOLVED_MIN) return 0
  const surelyWorse = clamp01(-(edge.mean + edge.error) / BEST_EDGE)
  return surelyWorse > 0 ? -0.1 * surelyWorse : clamp01(own / BEST_EDGE)
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
