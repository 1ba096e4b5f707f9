import type { Clock } from '../ports/clock.ts'

/** Now, in the wire's form. */
export const isoNow = (clock: Pick<Clock, 'now'>): string => new Date(clock.now()).toISOString()
