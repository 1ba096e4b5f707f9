import type { Timer } from '../../../ports/timer.ts'
import { positiveOf } from '../../ccxt.ts'
import { createClockOffset } from '../../clock-offset.ts'
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
  const clock = createClockOffset()
  let measuredMs = Number.NEGATIVE_INFINITY

  const measure = async (): Promise<void> => {
    const sentMs = timer.now()
    const theirMs = await request(async () => {
      const timeMs = positiveOf(await api.fetchTime())
      if (timeMs === null) throw new Error('the exchange returned no time')
      return timeMs
    })
    const receivedMs = timer.now()
    if (!clock.add({ sentMs, receivedMs, theirMs }) && clock.offsetMs() === null)
      throw new Error(`its answer took ${receivedMs - sentMs} ms, which says too little`)
    measuredMs = receivedMs
    const offsetMs = clock.offsetMs()
    if (offsetMs !== null) reportSkew(offsetMs)
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
    now: () => timer.now() + (clock.offsetMs() ?? 0),
    offsetMs: () => clock.offsetMs(),
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
const SKEW_MS_MAX = 500
