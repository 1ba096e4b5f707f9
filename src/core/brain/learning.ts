import type { Timestamp } from '../shared/brand.ts'
import type { KnownEvent, PayloadOf } from '../events/catalogue.ts'
import { DOMAINS, type DomainWeights } from '../shared/domains.ts'
import { msOf } from '../shared/time.ts'
import { closeOf, type Closes, evolveTrades, NO_CLOSES, NO_TRADES, type Trades, withClose } from './trades.ts'

/** Learned weights, and the trades that the next run learns from. */
export interface Learning {
  /** Time of the first event of the log. No run is due before it. */
  readonly beganAt: Timestamp | null
  readonly firstCloseAt: Timestamp | null
  readonly closes: Closes
  readonly trades: Trades
  /** Null while the configured weights are in force. */
  readonly learned: Learned | null
  /** The highest version ever learned; versions are never reused. */
  readonly newestVersion: number
  readonly lastRun: LastRun | null
}

interface Learned {
  readonly weights: DomainWeights
  readonly version: number
  readonly at: Timestamp
  /** The configured weights at that time. When these change, the learned ones are dropped. */
  readonly configured: DomainWeights
}

interface LastRun {
  readonly at: Timestamp
  readonly meanReturn: number | null
  /** Number of consecutive runs whose mean return was lower than that of the run before. */
  readonly falls: number
}

export const INITIAL_LEARNING: Learning = {
  beganAt: null,
  firstCloseAt: null,
  closes: NO_CLOSES,
  trades: NO_TRADES,
  learned: null,
  newestVersion: 0,
  lastRun: null,
}

interface WeightsInForce {
  readonly weights: DomainWeights
  /** Version of the weights; 0 for the configured ones. */
  readonly version: number
}

/** The sections of the configuration that decide about weights. */
interface WeightRules {
  readonly weights: DomainWeights
  readonly learning: { readonly enabled: boolean }
}

/** The learned weights, unless learning is off or other weights were configured since. */
export const weightsInForce = (
  { learned }: Pick<Learning, 'learned'>,
  { weights: configured, learning: { enabled } }: WeightRules,
): WeightsInForce =>
  !enabled || learned === null || !isSame(learned.configured, configured)
    ? { weights: configured, version: 0 }
    : { weights: learned.weights, version: learned.version }

/** Number of consecutive runs with a falling mean return, including a run that finds `meanReturn` now. */
export const fallsAfter = (lastRun: LastRun | null, meanReturn: number | null): number =>
  meanReturn !== null && lastRun !== null && lastRun.meanReturn !== null && meanReturn < lastRun.meanReturn
    ? lastRun.falls + 1
    : 0

/**
 * Whether a scheduled time has passed since the last run. Several missed runs count as one. `nextMs` is the scheduled
 * time after `dueMs`. A run later than that was made by a wrong clock.
 */
export const isLearningDue = (
  { lastRun, beganAt }: Learning,
  dueMs: number,
  nextMs = Number.POSITIVE_INFINITY,
): boolean => {
  const after = lastRun?.at ?? beganAt
  if (after === null) return false
  const afterMs = msOf(after)
  return dueMs > afterMs || (lastRun !== null && afterMs > nextMs)
}

export const evolveLearning = (learning: Learning, event: KnownEvent): Learning => {
  switch (event.type) {
    case 'system.started.v1':
      return learning.beganAt === null ? { ...learning, beganAt: event.recordedAt } : learning
    case 'learning.outcome.v1':
      return {
        ...learning,
        firstCloseAt: learning.firstCloseAt ?? event.ts,
        closes: withClose(learning.closes, closeOf(event.payload, event.ts)),
      }
    case 'learning.weight_adjustment.v1':
      return afterRun(learning, event.payload, event.ts)
    case 'system.config_changed.v1':
      return event.payload.changed.some((key) => key.startsWith('weights.'))
        ? withoutLearned(learning)
        : learning
    case 'brain.cycle.v1': {
      const next = withTrades(learning, event)
      // Settings may also change while the service is down. A cycle with other weights reveals it.
      const { weights_version: version } = event.payload
      return Number.isInteger(version) && version !== next.learned?.version ? withoutLearned(next) : next
    }
    default:
      return withTrades(learning, event)
  }
}

const afterRun = (
  learning: Learning,
  run: PayloadOf<'learning.weight_adjustment.v1'>,
  at: Timestamp,
): Learning => {
  const meanReturn = run.window_mean_return
  const lastRun = { at, meanReturn, falls: fallsAfter(learning.lastRun, meanReturn) }
  if (!run.applied) return { ...learning, lastRun }
  const version = run.weights_version
  const weights = run.new_weights as DomainWeights
  const learned = { weights, version, at, configured: run.configured_weights as DomainWeights }
  return { ...learning, lastRun, learned, newestVersion: version }
}

const withTrades = (learning: Learning, event: KnownEvent): Learning => {
  const trades = evolveTrades(learning.trades, event)
  return trades === learning.trades ? learning : { ...learning, trades }
}

const withoutLearned = (learning: Learning): Learning =>
  learning.learned === null ? learning : { ...learning, learned: null }

const isSame = (one: DomainWeights, other: DomainWeights): boolean =>
  DOMAINS.every((domain) => one[domain] === other[domain])
