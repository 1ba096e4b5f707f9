import { V7Generator } from 'uuidv7'
import type { Clock } from '../../../ports/clock.ts'

/** The clock of the machine. Ids go on rising while it stands still or steps back, however far. */
export const createSystemClock = (now: () => number = Date.now): Clock => {
  const ids = new V7Generator()
  // By default the generator follows a clock that steps back by more than ten seconds.
  ids.setRollbackAllowance(TIMESTAMP_MS_MAX)
  return {
    now,
    newId: () => ids.generateOrResetWithTs(now()).toString(),
  }
}

/** A UUIDv7 holds 48 bits of milliseconds. */
const TIMESTAMP_MS_MAX = 2 ** 48 - 1
