import type { Timestamp } from '../core/shared/brand.ts'
import { timestampAt } from '../core/shared/time.ts'
import type { Clock } from '../ports/clock.ts'

/** The current time in the wire's form. */
export const isoNow = (clock: Pick<Clock, 'now'>): Timestamp => timestampAt(clock.now())
