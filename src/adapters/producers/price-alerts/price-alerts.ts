import { priceNumber } from '../../../core/shared/money.ts'
import type { SymbolView } from '../../../core/market/readings.ts'
import { r9 } from '../../../core/shared/numbers.ts'
import type { ProducedRow, Producer } from '../../../ports/producer.ts'
import { rowsOfEach } from '../../produced-rows.ts'

const SIGMAS = 6

/** A calm market is a run without rows: nothing is wrong, and there is nothing to report. */
export const priceAlerts: Producer = {
  name: 'price-alerts',
  run: ({ symbols }) => {
    const isAnyWatched = symbols.some(({ return1h, variance }) => return1h !== null && variance !== null)
    if (isAnyWatched) return { status: 'ran', rows: rowsOfEach(symbols, rowOf) }
    return { status: 'degraded', reason: 'no symbol has an hour of prices and a volatility yet' }
  },
}

const rowOf = (view: SymbolView): ProducedRow | null => {
  const { symbol, return1h, variance } = view
  if (return1h === null || variance === null) return null
  const threshold = SIGMAS * Math.sqrt(variance)
  if (!(Math.abs(return1h) > threshold)) return null
  const direction = return1h > 0 ? 'bullish' : 'bearish'
  const payload = {
    symbol,
    direction,
    price: priceNumber(view.close),
    return_1h: r9(return1h),
    threshold: r9(threshold),
  }
  return { type: 'signal.price_alert.v1', payload }
}
