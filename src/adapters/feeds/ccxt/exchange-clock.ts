import type { Timer } from '../../../ports/timer.ts'
import { positiveOf } from '../../ccxt.ts'
import { messageOf, type ErrorReports, type Exchange } from './exchange.ts'

/** Time at the exchange: it decides which bars have closed. */
export interface ExchangeClock {
  now(): number
  /** Clock of the exchange minus ours; null before the first measurement. */
  offsetMs(): number | null
  /** Measures when the last measurement is old. Never rejects: on failure the offset stays what it was. */
  refresh(): Promise<void>
}

export const createExchangeClock = (
  { api, request, supports }: Exchange,
  timer: Timer,
  errors: ErrorReports,
): ExchangeClock => {
  let offsetMs: number | null = null
  let measuredMs = Number.NEGATIVE_INFINITY

  const measure = async (): Promise<void> => {
    const sentMs = timer.now()
    const exchangeMs = await request(async () => {
      const timeMs = positiveOf(await api.fetchTime())
      if (timeMs === null) throw new Error('the exchange returned no time')
      return timeMs
    })
    measuredMs = timer.now()
    const roundTripMs = measuredMs - sentMs
    const newMs = Math.round(exchangeMs - (sentMs + roundTripMs / 2))
    // A slow response is imprecise by half its round trip: it counts only where it differs by more than that.
    const isImprecise = roundTripMs > ROUND_TRIP_MS_MAX
    if (offsetMs !== null && isImprecise && Math.abs(newMs - offsetMs) <= roundTripMs / 2) return
    offsetMs = newMs
    reportSkew(newMs)
  }

  const reportSkew = (skewMs: number): void => {
    if (Math.abs(skewMs) <= SKEW_MS_MAX) {
      errors.clear('clock')
      return
    }
    const side = skewMs > 0 ? 'behind' : 'ahead of'
    errors.warn(
      'clock',
      `this machine's clock is ${Math.abs(skewMs)} ms ${side} the exchange's: check its time synchronisation`,
    )
  }

  return {
    now: () => timer.now() + (offsetMs ?? 0),
    offsetMs: () => offsetMs,
    refresh: async () => {
      if (!supports('fetchTime') || Math.abs(timer.now() - measuredMs) < FRESH_MS) return
      try {
        await measure()
        errors.clear('time')
      } catch (error) {
        errors.warn('time', `could not read the exchange's clock: ${messageOf(error)}`)
      }
    },
  }
}

/** Once per one-minute bar: after a clock change an unfinished bar would count as closed. */
const FRESH_MS = 20_000
const ROUND_TRIP_MS_MAX = 2000
const SKEW_MS_MAX = 500
