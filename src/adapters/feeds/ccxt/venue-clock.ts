import type { Timer } from '../../../ports/timer.ts'
import { canFetch, type Exchange } from './exchange.ts'
import type { Line } from './line.ts'
import type { ErrorReports } from './errors.ts'
import { messageOf, positiveOf, UnreadableAnswerError } from './values.ts'

/** The time at the venue: what has closed is decided there. */
export interface VenueClock {
  now(): number
  /** Clock of the venue minus ours; null as long as it is not measured. */
  offsetMs(): number | null
  /** Measures when the last measure is old. Never rejects: the offset stays what it was. */
  keep(): Promise<void>
}

export interface VenueClockDependencies {
  readonly exchange: Exchange
  readonly line: Line
  readonly timer: Timer
  readonly troubles: ErrorReports
}

export const createVenueClock = ({ exchange, line, timer, troubles }: VenueClockDependencies): VenueClock => {
  let offsetMs: number | null = null
  let measuredMs = Number.NEGATIVE_INFINITY

  const measure = async (): Promise<void> => {
    const sentMs = timer.now()
    const venueMs = await line.ask(async () => {
      const answer = positiveOf(await exchange.fetchTime())
      if (answer === null) throw new UnreadableAnswerError('the venue told no time')
      return answer
    })
    measuredMs = timer.now()
    const roundTripMs = measuredMs - sentMs
    const newMs = Math.round(venueMs - (sentMs + roundTripMs / 2))
    // The answer was written somewhere on the way: one that was slow says little, unless it says something else.
    const isVague = roundTripMs > ROUND_TRIP_MS_MAX
    if (offsetMs !== null && isVague && Math.abs(newMs - offsetMs) <= roundTripMs / 2) return
    offsetMs = newMs
    tellSkew(newMs)
  }

  const tellSkew = (skewMs: number): void => {
    if (Math.abs(skewMs) <= SKEW_MS_MAX) {
      troubles.clear('clock')
      return
    }
    const side = skewMs > 0 ? 'behind' : 'ahead of'
    troubles.mention('clock', `the clock of this machine is ${Math.abs(skewMs)} ms ${side} the venue's`)
  }

  return {
    now: () => timer.now() + (offsetMs ?? 0),
    offsetMs: () => offsetMs,
    keep: async () => {
      if (!canFetch(exchange, 'fetchTime') || Math.abs(timer.now() - measuredMs) < FRESH_MS) return
      try {
        await measure()
        troubles.clear('time')
      } catch (error) {
        troubles.mention('time', `the time of the venue is unknown: ${messageOf(error)}`)
      }
    },
  }
}

/** With each bar of a minute: a clock that was set in between would take an unfinished bar for a finished one. */
const FRESH_MS = 20_000
const ROUND_TRIP_MS_MAX = 2000
const SKEW_MS_MAX = 500
