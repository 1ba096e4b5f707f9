import type { SymbolView } from '../../../core/market/readings.ts'
import { r9 } from '../../../core/shared/numbers.ts'
import type { ProducedRow, Producer } from '../../../ports/producer.ts'

export const orderbookDepth: Producer = {
  name: 'orderbook-depth',
  run: ({ symbols }) => {
    const rows = symbols.flatMap(rowsOf)
    if (rows.length > 0) return { status: 'ran', rows }
    return { status: 'degraded', reason: 'the feed has no order book depth' }
  },
}

/** One side alone says nothing about the balance of both. */
const rowsOf = ({ symbol, bidDepthUsd, askDepthUsd }: SymbolView): readonly ProducedRow[] => {
  if (bidDepthUsd === null || askDepthUsd === null) return []
  const total = bidDepthUsd + askDepthUsd
  const depths = { symbol, bid_depth_usd: bidDepthUsd, ask_depth_usd: askDepthUsd }
  // Written out: this runs for every symbol every few minutes.
  const payload =
    total > 0
      ? {
          symbol,
          bid_depth_usd: bidDepthUsd,
          ask_depth_usd: askDepthUsd,
          imbalance: r9((bidDepthUsd - askDepthUsd) / total),
        }
      : depths
  return [{ type: 'signal.orderbook.v1', payload }]
}
