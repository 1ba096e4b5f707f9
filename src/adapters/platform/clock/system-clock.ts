import { getRandomValues } from 'node:crypto'
import { V7Generator } from 'uuidv7'
import type { Clock } from '../../../ports/clock.ts'

/** The clock of the machine. Ids go on rising while it stands still or steps back, however far. */
export const createSystemClock = (now: () => number = Date.now): Clock => {
  const ids = new V7Generator(createRandomNumbers())
  // By default the generator follows a clock that steps back by more than ten seconds.
  ids.setRollbackAllowance(TIMESTAMP_MS_MAX)
  return {
    now,
    newId: () => ids.generateOrResetWithTs(now()).toString(),
  }
}

/** A UUIDv7 holds 48 bits of milliseconds. */
const TIMESTAMP_MS_MAX = 2 ** 48 - 1

/** The generator's own source asks the system for a few numbers at a time, which takes longer than all the rest. */
const createRandomNumbers = (): { nextUint32(): number } => {
  const numbers = new Uint32Array(RANDOM_NUMBERS_AT_ONCE)
  let used = numbers.length
  return {
    nextUint32: () => {
      if (used === numbers.length) {
        getRandomValues(numbers)
        used = 0
      }
      const number = numbers[used] as number
      used += 1
      return number
    },
  }
}

const RANDOM_NUMBERS_AT_ONCE = 256
