import type { z } from 'zod'
import type { Stamped } from '../log/event.ts'
import { alertEvents } from './alert.ts'
import { systemEvents } from './system.ts'

/** Every event the engine writes, with the schema of its payload. */
export const CATALOGUE = { ...alertEvents, ...systemEvents } as const

type Catalogue = typeof CATALOGUE

export type EventType = keyof Catalogue

export type PayloadOf<Type extends EventType> = z.infer<Catalogue[Type]>

/** What a decision wants recorded. Absent members take the batch's own: now, the caller's trace, a new id. */
export type NewEvent = {
  [Type in EventType]: {
    readonly type: Type
    readonly payload: PayloadOf<Type>
    readonly source: string
    readonly ts?: string
    readonly id?: string
    readonly traceId?: string
    readonly dedupeKey?: string
  }
}[EventType]

/** A stored event of a type we know. */
export type KnownEvent = { [Type in EventType]: Stamped<Type, PayloadOf<Type>> }[EventType]

/** Unknown types are kept in the log and change nothing. */
export const asKnown = (event: Stamped): KnownEvent | null =>
  Object.hasOwn(CATALOGUE, event.type) ? (event as unknown as KnownEvent) : null
