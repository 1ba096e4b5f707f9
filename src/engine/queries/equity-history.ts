import { accountStatusOf } from '../../core/trading/account.ts'
import { viewEquityHistory, type EquityHistoryView } from '../../core/views/portfolio.ts'
import type { Clock } from '../../ports/clock.ts'
import { isoNow } from '../iso-now.ts'
import type { Reader } from './reader.ts'

const POINTS = 240
const HOUR_MS = 3_600_000

/** Not from before the log began. */
export const equityHistoryOf = async (
  reader: Reader,
  hours: number,
  clock: Clock,
): Promise<EquityHistoryView> => {
  const state = await reader.fresh()
  const nowMs = clock.now()
  const [first] = await reader.log.read({ order: 'asc', limit: 1 })
  const beganMs = first === undefined ? nowMs : Date.parse(first.recordedAt)
  return viewEquityHistory({
    nowMs,
    sinceMs: Math.min(nowMs, Math.max(nowMs - hours * HOUR_MS, beganMs)),
    points: POINTS,
    equity: accountStatusOf(state.trading, isoNow(clock)).equity,
    curve: state.trading.risk.curve,
  })
}
