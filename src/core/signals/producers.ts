import { nodeId, type Timestamp } from '../shared/brand.ts'
import type { Contributors } from './contributors.ts'
import { timestampAt, isFromFuture, msOf } from '../shared/time.ts'
import { assertFold } from '../shared/assert.ts'
import { Map as PersistentMap } from 'immutable'
import type { KnownEvent, PayloadOf } from '../events/catalogue.ts'
import { accept, type Decision, refuse } from '../shared/decision.ts'
import { BUILTIN_PRODUCERS } from '../signal-types/all.ts'
import { z } from 'zod'
import { cronText } from '../shared/cron.ts'
import { httpUrl, withoutHidden } from '../shared/text.ts'

export interface RegisteredProducer {
  readonly name: string
  readonly domain: string
  readonly endpoint: string
  readonly schedule: string
  readonly registeredAt: Timestamp
}

export type Health = PayloadOf<'producer.run.v1'>['health']

/** Results of a producer's runs. */
export interface RunRecord {
  readonly health: Health
  readonly lastRunAt: Timestamp
  readonly lastSuccessAt: Timestamp | null
  readonly lastError: string | null
  readonly consecutiveFailures: number
  readonly errorsInARow: number
  /** Times of the last errors, oldest first. */
  readonly recentErrors: readonly Timestamp[]
  readonly eventsProduced: number
  readonly averageDurationMs: number
  readonly quarantinedUntil: Timestamp | null
}

export interface Producers {
  readonly registered: PersistentMap<string, RegisteredProducer>
  readonly runs: PersistentMap<string, RunRecord>
}

export const INITIAL_PRODUCERS: Producers = { registered: PersistentMap(), runs: PersistentMap() }

export const isBuiltin = (name: string): boolean => Object.hasOwn(BUILTIN_PRODUCERS, name)

/**
 * Whether people may mistake the name for a built-in one: with other case, blanks around it, full-width letters or
 * invisible characters.
 */
export const looksBuiltin = (name: string): boolean =>
  isBuiltin(withoutHidden(name).normalize('NFKC').trim().toLowerCase())

/** Undefined for a name that is not built in, including members that every object inherits. */
export const builtinOf = (name: string): (typeof BUILTIN_PRODUCERS)[string] | undefined =>
  isBuiltin(name) ? BUILTIN_PRODUCERS[name] : undefined

/** Registers a producer. Its name must not be that of another author. */
export const registerProducer = (
  { producers, contributors }: { readonly producers: Producers; readonly contributors: Contributors },
  record: PayloadOf<'producer.registered.v1'>,
  source: string,
): Decision => {
  const { name } = record
  const node = nodeId(name)
  const isContributor = contributors.idOfNode.has(node) || contributors.keyOfNode.has(node)
  if (looksBuiltin(name) || producers.registered.has(name) || isContributor) {
    return refuse('producer.duplicate', `a producer named ${name} exists already`, { name })
  }
  return accept({ type: 'producer.registered.v1', source, payload: record })
}

/** Ends polling of a producer. Its signals stay. */
export const removeProducer = (producers: Producers, name: string, source: string): Decision => {
  if (!producers.registered.has(name))
    return refuse('producer.not_found', `no producer is registered as ${name}`, { name })
  return accept({ type: 'producer.removed.v1', source, payload: { name } })
}

export const evolveProducers = (producers: Producers, event: KnownEvent): Producers => {
  switch (event.type) {
    case 'producer.registered.v1':
      return {
        ...producers,
        registered: producers.registered.set(event.payload.name, {
          ...event.payload,
          registeredAt: event.ts,
        }),
      }
    case 'producer.removed.v1': {
      const { name } = event.payload
      assertFold(producers.registered.has(name), `producer ${name} is removed but not registered`)
      return { registered: producers.registered.delete(name), runs: producers.runs.delete(name) }
    }
    case 'producer.run.v1': {
      const { registered, runs } = producers
      const { name } = event.payload
      return { registered, runs: runs.set(name, afterRun(runs.get(name), event)) }
    }
    default:
      return producers
  }
}

const afterRun = (
  before: RunRecord | undefined,
  { ts, payload }: Extract<KnownEvent, { type: 'producer.run.v1' }>,
): RunRecord => ({
  health: payload.health,
  // Health becomes stale without a run.
  lastRunAt: payload.health === 'stale' ? (before?.lastRunAt ?? ts) : ts,
  lastSuccessAt: payload.health === 'ok' ? ts : (before?.lastSuccessAt ?? null),
  lastError: payload.error,
  consecutiveFailures: payload.consecutive_failures,
  errorsInARow: errorsAfter(before?.errorsInARow ?? 0, payload.health),
  recentErrors: isError(payload.health)
    ? [...(before?.recentErrors ?? []), ts].slice(-RECENT_ERRORS_MAX)
    : (before?.recentErrors ?? []),
  eventsProduced: (before?.eventsProduced ?? 0) + payload.events_published,
  averageDurationMs:
    before === undefined || payload.health === 'stale'
      ? (before?.averageDurationMs ?? payload.duration_ms)
      : 0.8 * before.averageDurationMs + 0.2 * payload.duration_ms,
  quarantinedUntil: payload.quarantined_until,
})

const errorsAfter = (before: number, health: Health): number => {
  if (health === 'ok') return 0
  return isError(health) ? before + 1 : before
}

const isError = (health: Health): boolean => health === 'error' || health === 'quarantined'

const RECENT_ERRORS_MAX = 20

/** Endpoint of a strategy or producer in a user's file. It runs in the leading process and is not polled. */
export const ownEndpoint = (kind: 'strategy' | 'producer', name: string): string => `${kind}:${name}`

export const isOwnCode = (endpoint: string): boolean => /^(strategy|producer):/.test(endpoint)

const DEFAULT_SCHEDULE = '*/15 * * * *'

/** Body of a registration. The endpoint is not contacted yet. */
export const producerRegistration = z.object({
  name: z
    .string()
    .max(128)
    .regex(/^[A-Za-z0-9][A-Za-z0-9._:-]*$/, {
      error:
        'must begin with a letter or digit and hold only letters, digits, dots, underscores, colons and hyphens',
    }),
  domain: z
    .string()
    .max(64)
    .regex(/^[A-Za-z][A-Za-z0-9_-]*$/, {
      error: 'must begin with a letter and hold only letters, digits, underscores and hyphens',
    })
    .toLowerCase()
    .meta({ description: 'curator, onchain, tradfi, social, technical and events carry weight' }),
  endpoint: httpUrl(),
  schedule: cronText().default(DEFAULT_SCHEDULE),
})

/** Result of a run. `usable`: it returned signals, new or already known. */
export type RunEnd = 'usable' | 'unusable' | 'error'

export interface HealthRules {
  readonly now: Timestamp
  /** Number of consecutive errors after which the producer is quarantined. */
  readonly quarantineAfter: number
  readonly quarantineSeconds: number
  /**
   * Time within which this many errors also lead to quarantine, even with successful runs between them. Null if only
   * consecutive errors count.
   */
  readonly windowMs: number | null
}

interface HealthAfterRun {
  readonly health: Health
  readonly consecutive_failures: number
  readonly quarantined_until: Timestamp | null
}

/** Health after a run. Degraded runs count as failures, but neither add to nor end a series of errors. */
export const healthAfter = (
  before: RunRecord | undefined,
  end: RunEnd,
  rules: HealthRules,
): HealthAfterRun => {
  const { now, quarantineAfter, quarantineSeconds } = rules
  if (end === 'usable') return { health: 'ok', consecutive_failures: 0, quarantined_until: null }
  const consecutive_failures = (before?.consecutiveFailures ?? 0) + 1
  if (end === 'unusable') return { health: 'degraded', consecutive_failures, quarantined_until: null }
  const isOut =
    before?.health === 'quarantined' ||
    (before?.errorsInARow ?? 0) + 1 >= quarantineAfter ||
    errorsWithin(before?.recentErrors ?? [], rules) + 1 >= quarantineAfter
  return {
    health: isOut ? 'quarantined' : 'error',
    consecutive_failures,
    quarantined_until: isOut ? timestampAt(Date.parse(now) + quarantineSeconds * 1000) : null,
  }
}

const errorsWithin = (errors: readonly Timestamp[], { now, windowMs }: HealthRules): number => {
  if (windowMs === null) return 0
  const nowMs = Date.parse(now)
  return errors.filter((at) => {
    const atMs = Date.parse(at)
    return nowMs - atMs < windowMs && !isFromFuture(atMs, nowMs)
  }).length
}

/** A quarantined producer may run again when its quarantine ends, or if a wrong clock began it. */
export const mayRun = (record: RunRecord | undefined, now: Timestamp): boolean =>
  record === undefined ||
  record.quarantinedUntil === null ||
  record.quarantinedUntil <= now ||
  isFromFuture(Date.parse(record.lastRunAt), Date.parse(now))

/** Whether the producer missed several expected runs. */
export const isOverdue = (
  record: RunRecord,
  intervalMs: number,
  intervals: number,
  now: Timestamp,
): boolean =>
  (record.health === 'ok' || record.health === 'degraded') &&
  msOf(now) - msOf(record.lastRunAt) > intervals * intervalMs
