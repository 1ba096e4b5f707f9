import type { Timestamp } from '../shared/brand.ts'
import type { NewEvent, PayloadOf } from '../events/catalogue.ts'
import { CURATOR_TYPE } from '../signal-types/curator.ts'
import { SIGNAL_TYPE_PATTERN, signalTypeOf } from '../signal-types/all.ts'
import { accept, type Decision, refuse } from '../shared/decision.ts'
import type { JsonObject } from '../shared/json.ts'
import { HOUR_MS, isTooFarAhead, msOf } from '../shared/time.ts'
import { intervalMsOf } from '../shared/cron.ts'
import {
  builtinOf,
  healthAfter,
  type HealthRules,
  isBuiltin,
  isOverdue,
  isOwnCode,
  ownEndpoint,
  type Producers,
  type RunEnd,
} from './producers.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import { type CallOf, type Emitter, mayEmit, signalOfProducer } from './signals.ts'

/** A signal that a producer returned. */
export interface ProducedSignal {
  readonly type: string
  readonly payload: JsonObject
  readonly ts: Timestamp
  readonly dedupeKey: string
}

export interface ProducerReport {
  readonly name: string
  /** Time of the registration that the run belongs to. Undefined if the process itself runs the producer. */
  readonly registeredAt?: Timestamp | undefined
  readonly end: RunEnd
  readonly rows: readonly ProducedSignal[]
  /** Rejected rows, by index in the answer. */
  readonly rejected: readonly PayloadOf<'producer.run.v1'>['rejected'][number][]
  readonly error: string | null
  readonly durationMs: number
}

const REJECTED_SHOWN = 20

/** Returns why a row is rejected, or null. */
export const rowFaultOf = (
  { type, payload, ts }: ProducedSignal,
  {
    now,
    skewSecondsMax,
    domain,
  }: { readonly now: Timestamp; readonly skewSecondsMax: number; readonly domain: string },
): string | null => {
  const declaration = signalTypeOf(type)
  if (declaration === undefined && !SIGNAL_TYPE_PATTERN.test(type)) return 'type is no signal type'
  if (type === CURATOR_TYPE) return 'type is for contributors only'
  if (!mayEmit(domain, type)) return `type is not one of the domain ${domain}`
  if (isTooFarAhead(ts, now, skewSecondsMax)) return 'ts is in the future'
  const issue = declaration?.payload.safeParse(payload).error?.issues[0]
  return issue === undefined ? null : `${['payload', ...issue.path].join('.')}: ${issue.message}`
}

/** Event about the run, recorded after its signals. */
const runEvent = (
  producers: Producers,
  report: ProducerReport,
  rules: HealthRules,
): {
  readonly type: 'producer.run.v1'
  readonly source: string
  readonly payload: PayloadOf<'producer.run.v1'>
} => {
  const before = producers.runs.get(report.name)
  const { name, rows, rejected, error, durationMs } = report
  return {
    type: 'producer.run.v1',
    source: name,
    payload: {
      name,
      ...healthAfter(before, report.end, rules),
      prev_health: before?.health ?? 'unknown',
      events_published: rows.length,
      duration_ms: durationMs,
      error: error ?? (rejected.length > 0 ? `${rejected.length} rows were rejected` : null),
      rejected: rejected.slice(0, REJECTED_SHOWN),
    },
  }
}

/** Marks producers as stale, once each. */
export const noticeStale = (
  producers: Producers,
  { now, staleIntervals }: { readonly now: Timestamp; readonly staleIntervals: number },
): Decision => {
  const events: NewEvent[] = []
  producers.runs.forEach((record, name) => {
    const schedule = producers.registered.get(name)?.schedule ?? builtinOf(name)?.schedule ?? null
    const intervalMs = schedule === null ? null : intervalMsOf(schedule)
    if (intervalMs === null || !isOverdue(record, intervalMs, staleIntervals, now)) return
    events.push({
      type: 'producer.run.v1',
      source: name,
      payload: {
        name,
        health: 'stale',
        prev_health: record.health,
        events_published: 0,
        duration_ms: 0,
        error: `no run since ${record.lastRunAt}`,
        consecutive_failures: record.consecutiveFailures,
        quarantined_until: null,
        rejected: [],
      },
    })
  })
  return { status: 'accepted', events }
}

/** Stores the signals of a run and its result. Rejected rows are recorded with their reason. */
export const runProducer = (
  producers: Producers,
  report: ProducerReport,
  emitter: Emitter,
  context: DecisionContext,
  callOf: CallOf,
): Decision => {
  const { now, configuration } = context
  const { name } = report
  if (emitter.kind !== 'producer' && emitter.kind !== 'built-in')
    return refuse('producer.not_found', `no producer is named ${name}`, { name })
  // The producer was registered again during the run, so the answer of the earlier endpoint is ignored.
  const isReplaced =
    report.registeredAt !== undefined && producers.registered.get(name)?.registeredAt !== report.registeredAt
  if (isReplaced) return refuse('producer.not_found', `${name} was registered anew meanwhile`, { name })
  const { domain } = emitter
  const skewSecondsMax = configuration.signals.max_future_skew_seconds
  const faults = report.rows.map((row) => rowFaultOf(row, { now, skewSecondsMax, domain }))
  const rows = report.rows.filter((_, index) => faults[index] === null)
  const rejected = [
    ...report.rejected,
    ...faults.flatMap((reason, index) => (reason === null ? [] : [{ index, reason }])),
  ]
  const isNothingLeft = report.end === 'usable' && rows.length === 0 && report.rows.length > 0
  const end = isNothingLeft ? 'unusable' : report.end
  const { quarantine_after, quarantine_seconds } = configuration.producers
  const rules = {
    now,
    quarantineAfter: quarantine_after,
    quarantineSeconds: quarantine_seconds,
    windowMs: windowMsOf(producers, name),
  }
  const ran = runEvent(producers, { ...report, rows, rejected, end }, rules)
  const { newId, isSigned } = context
  const events: NewEvent[] = []
  for (const row of rows) {
    const spoken = spokenAt(producers, name, row, now)
    events.push(...signalEvents(name, row, { now: spoken, newId, configuration, isSigned, callOf }))
  }
  return accept(...events, ran, ...quarantineAlert(producers, ran.payload))
}

/**
 * Time window in which errors count, as long as 20 runs; null for polled services. A user's own code that hangs now and
 * then delays its callers by seconds each time, even if other runs succeed. A polled service delays no caller.
 */
const windowMsOf = ({ registered }: Producers, name: string): number | null => {
  const producer = registered.get(name)
  if (producer === undefined || !isOwnCode(producer.endpoint)) return null
  return RUNS_IN_WINDOW * (intervalMsOf(producer.schedule) ?? HOUR_MS)
}

const RUNS_IN_WINDOW = 20

/** Quarantined code of the user needs its author: a strategy no longer manages its positions. */
const quarantineAlert = (
  { registered }: Producers,
  { name, health, prev_health: before, error, quarantined_until: until }: PayloadOf<'producer.run.v1'>,
): readonly NewEvent[] => {
  const isOwn = isOwnCode(registered.get(name)?.endpoint ?? '')
  if (health !== 'quarantined' || before === 'quarantined' || !isOwn) return []
  return [
    {
      type: 'alert.own_code',
      source: 'alerts',
      payload: {
        urgency: 'immediate',
        message: `${name} is set aside until ${until}: ${error}`,
        cause: 'quarantined',
        producer: name,
        quarantined_until: until,
        repeat: 0,
      },
    },
  ]
}

/**
 * Time of a signal. Built-in producers and those of the user submit at the close of the bars that they have read, which
 * arrive a little later. Their calls then last as long as those of a backtest, and the same bars settle them.
 */
const spokenAt = (
  { registered }: Producers,
  name: string,
  { ts }: ProducedSignal,
  now: Timestamp,
): Timestamp => {
  if (ts === now) return now
  const lateMs = msOf(now) - Date.parse(ts)
  const readsBars = isBuiltin(name) || registered.get(name)?.endpoint === ownEndpoint('producer', name)
  return readsBars && lateMs > 0 && lateMs < LATE_MS_MAX ? ts : now
}

/** Rows that arrive later than this after their time are dated at the current time. */
export const LATE_MS_MAX = 60_000

const signalEvents = (
  name: string,
  row: ProducedSignal,
  context: Parameters<typeof signalOfProducer>[1],
): readonly NewEvent[] => {
  const decision = signalOfProducer({ producerId: name, ...row }, context)
  return decision.status === 'refused' ? [] : decision.events
}
