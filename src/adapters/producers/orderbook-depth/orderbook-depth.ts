import type { SymbolView } from '../../../core/market/readings.ts'
import { r9 } from '../../../core/shared/numbers.ts'
import type { ProducedRow, Producer } from '../../../ports/producer.ts'
import { rowsOfEach } from '../../produced-rows.ts'

export const orderbookDepth: Producer = {
  name: 'orderbook-depth',
  run: ({ symbols }) => {
    const rows = rowsOfEach(symbols, rowOf)
    if (rows.length > 0) return { status: 'ran', rows }
    return { status: 'degraded', reason: 'the feed has no order book depth' }
  },
}

/** One side alone says nothing about the balance of both. */
const rowOf = ({ symbol, bidDepthUsd, askDepthUsd }: SymbolView): ProducedRow | null => {
  if (bidDepthUsd === null || askDepthUsd === null) return null
  const total = bidDepthUsd + askDepthUsd
  // Written out: this runs for every symbol every few minutes.
  const payload =
    total > 0
      ? {
          symbol,
          bid_depth_usd: bidDepthUsd,
          ask_depth_usd: askDepthUsd,
          imbalance: r9((bidDepthUsd - askDepthUsd) / total),
        }
      : { symbol, bid_depth_usd: bidDepthUsd, ask_depth_usd: askDepthUsd }
  return { type: 'signal.orderbook.v1', payload }
}
