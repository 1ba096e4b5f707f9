import { Map as PersistentMap } from 'immutable'
import type { KnownEvent, PayloadOf } from '../events/catalogue.ts'
import { accept, type Decision, refuse } from '../shared/decision.ts'
import { BUILTIN_PRODUCERS } from '../signal-types/all.ts'

export interface Producer {
  readonly name: string
  readonly domain: string
  readonly endpoint: string
  readonly schedule: string
  readonly registeredAt: string
}

export type Health = PayloadOf<'producer.run.v1'>['health']

/** How a producer's runs went. */
export interface RunRecord {
  readonly health: Health
  readonly lastRunAt: string
  readonly lastSuccessAt: string | null
  readonly lastError: string | null
  readonly consecutiveFailures: number
  readonly errorsInARow: number
  readonly eventsProduced: number
  readonly averageDurationMs: number
  readonly quarantinedUntil: string | null
}

export interface Producers {
  readonly registered: PersistentMap<string, Producer>
  readonly runs: PersistentMap<string, RunRecord>
}

export const INITIAL_PRODUCERS: Producers = { registered: PersistentMap(), runs: PersistentMap() }

export const isBuiltin = (name: string): boolean => Object.hasOwn(BUILTIN_PRODUCERS, name)

export const registerProducer = (
  producers: Producers,
  record: PayloadOf<'producer.registered.v1'>,
  source: string,
): Decision => {
  const { name } = record
  if (isBuiltin(name) || producers.registered.has(name)) {
    return refuse('producer.duplicate', `a producer named ${name} exists already`, { name })
  }
  return accept({ type: 'producer.registered.v1', source, payload: record })
}

/** Its signals stay; only the polling ends. */
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
    case 'producer.removed.v1':
      return {
        registered: producers.registered.delete(event.payload.name),
        runs: producers.runs.delete(event.payload.name),
      }
    case 'producer.run.v1':
      return {
        ...producers,
        runs: producers.runs.update(event.payload.name, (before) => afterRun(before, event)),
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
  // Being noticed as stale is no run.
  lastRunAt: payload.health === 'stale' ? (before?.lastRunAt ?? ts) : ts,
  lastSuccessAt: payload.health === 'ok' ? ts : (before?.lastSuccessAt ?? null),
  lastError: payload.error,
  consecutiveFailures: payload.consecutive_failures,
  errorsInARow: errorsAfter(before?.errorsInARow ?? 0, payload.health),
  eventsProduced: (before?.eventsProduced ?? 0) + payload.events_published,
  averageDurationMs:
    before === undefined || payload.health === 'stale'
      ? (before?.averageDurationMs ?? payload.duration_ms)
      : 0.8 * before.averageDurationMs + 0.2 * payload.duration_ms,
  quarantinedUntil: payload.quarantined_until,
})

const errorsAfter = (before: number, health: Health): number => {
  if (health === 'ok') return 0
  return health === 'error' || health === 'quarantined' ? before + 1 : before
}
