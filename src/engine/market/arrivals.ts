import type { PayloadOf } from '../../core/events/catalogue.ts'

/** Inputs that a scheduled cycle waited for, and which of them had arrived. */
export type Awaited = NonNullable<PayloadOf<'brain.cycle.v1'>['awaited']>

export const NOTHING_AWAITED: Awaited = { bar: 'none', producers: [], late_producers: [] }

/** Arrival of the bars that close at a time, and of the signals from the producers that read them. */
export interface Arrivals {
  /** Resolves once they are stored and the producers that are due have run; at once if no bars close at that time. */
  arrived(closeMs: number): Promise<void>
  arrivedBy(closeMs: number): Awaited
}
