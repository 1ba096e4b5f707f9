/** When a clock was asked, when it answered, and what it said. */
export interface OffsetReading {
  readonly sentMs: number
  readonly receivedMs: number
  readonly theirMs: number
}

/** How far another clock is ahead of ours. */
export interface ClockOffset {
  /** Null before the first good reading. */
  offsetMs(): number | null
  /** False for a reading that is too slow to be of use: then the offset stays what it was. */
  add(reading: OffsetReading): boolean
}

/**
 * An answer says what the other clock showed at some time between request and response: taken for the middle, it is wrong
 * by half the round trip at most. The best reading is kept; a worse one replaces it only when the best is old, or when
 * the two cannot both be true, so that one of the clocks was set.
 */
export const createClockOffset = (): ClockOffset => {
  let best: Estimate | null = null
  return {
    offsetMs: () => best?.offsetMs ?? null,
    add: ({ sentMs, receivedMs, theirMs }) => {
      const roundTripMs = Math.abs(receivedMs - sentMs)
      const estimate: Estimate = {
        offsetMs: Math.round(theirMs - (sentMs + receivedMs) / 2),
        uncertaintyMs: roundTripMs / 2,
        atMs: receivedMs,
      }
      const isSlow = roundTripMs > ROUND_TRIP_MS_MAX
      if (best === null) {
        if (!isSlow) best = estimate
        return !isSlow
      }
      const isContradiction =
        Math.abs(estimate.offsetMs - best.offsetMs) >
        estimate.uncertaintyMs + best.uncertaintyMs + DRIFT_MS_MAX
      const isBetter = estimate.uncertaintyMs <= best.uncertaintyMs
      const isOld = Math.abs(receivedMs - best.atMs) > BEST_AGE_MS_MAX
      if (isContradiction || (!isSlow && (isBetter || isOld))) best = estimate
      return !isSlow || isContradiction
    },
  }
}

interface Estimate {
  readonly offsetMs: number
  readonly uncertaintyMs: number
  readonly atMs: number
}

/** Half of it is what venues let a timestamp be ahead. */
const ROUND_TRIP_MS_MAX = 2000
/** Clocks of machines drift apart by some milliseconds in a minute. */
const BEST_AGE_MS_MAX = 600_000
const DRIFT_MS_MAX = 50
