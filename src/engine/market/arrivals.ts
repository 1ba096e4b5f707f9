import type { PayloadOf } from '../../core/events/catalogue.ts'

/** What a scheduled cycle waited for, and what of it had come. */
export type Awaited = NonNullable<PayloadOf<'brain.cycle.v1'>['awaited']>

export const NOTHING_AWAITED: Awaited = { bar: 'none', producers: [], late_producers: [] }

/** Bars that close at a time, and what producers make of them. */
export interface Arrivals {
  /** Resolves when they are stored and the producers that are due have run; at once where none close then. */
  arrived(closeMs: number): Promise<void>
  arrivedBy(closeMs: number): Awaited
}
