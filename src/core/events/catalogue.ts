import type { Timestamp } from '../shared/brand.ts'
import type { z } from 'zod'
import type { Stamped } from '../log/event.ts'
import type { JsonObject } from '../shared/json.ts'
import { alertEvents, systemEvents } from './system.ts'
import { attributionEvents, contributorEvents, producerEvents, traceEvents } from './signals.ts'
import { brainEvents, learningEvents } from './brain.ts'
import { executionEvents, venueEvents } from './trading.ts'
import { karmaEvents } from './treasury.ts'
import { marketEvents } from './market.ts'

/** Every event the engine writes besides signals, with the schema of its payload. */
export const CATALOGUE = {
  ...alertEvents,
  ...attributionEvents,
  ...brainEvents,
  ...contributorEvents,
  ...executionEvents,
  ...venueEvents,
  ...karmaEvents,
  ...learningEvents,
  ...marketEvents,
  ...producerEvents,
  ...systemEvents,
  ...traceEvents,
} as const

type Catalogue = typeof CATALOGUE

export type EventType = keyof Catalogue

/** Payload as it is read from the log: ids, timestamps and canonical symbols are branded. */
export type PayloadOf<Type extends EventType> = z.output<Catalogue[Type]>

/** Payload as it is written: ids, timestamps and canonical symbols are plain texts. */
export type NewPayload<Type extends EventType> = z.input<Catalogue[Type]>

/** Signals are an open family: known ones are declared in core/signal-types, others are kept and carry no weight. */
export type SignalType = `signal.${string}`

interface EventDraft<Type extends string, Payload> {
  readonly type: Type
  readonly payload: Payload
  readonly source: string
  readonly ts?: Timestamp
  readonly id?: string
  readonly traceId?: string
  readonly dedupeKey?: string
}

/**
 * An event that a decision records. Absent members default to those of the batch: the current time, the caller's trace,
 * a new id.
 */
export type NewEvent =
  | { [Type in EventType]: EventDraft<Type, NewPayload<Type>> }[EventType]
  | EventDraft<SignalType, JsonObject>

export type StoredSignal = Stamped<SignalType>

/** A stored event of a type we know. */
export type KnownEvent = { [Type in EventType]: Stamped<Type, PayloadOf<Type>> }[EventType] | StoredSignal

/** Returns null for an unknown type. Such events stay in the log and change nothing. */
export const asKnown = (event: Stamped): KnownEvent | null =>
  TYPES.has(event.type) || event.type.startsWith('signal.') ? (event as unknown as KnownEvent) : null

/** Looked up several times for each event, for which a set is faster than the catalogue. */
const TYPES: ReadonlySet<string> = new Set(Object.keys(CATALOGUE))

export const isSignal = (event: KnownEvent): event is StoredSignal => event.type.startsWith('signal.')

/** Whether the payload of an event matches the schema of its type. */
export const isSound = ({ type, payload }: Stamped): boolean =>
  !Object.hasOwn(CATALOGUE, type) || CATALOGUE[type as EventType].safeParse(payload).success
