import type { SymbolView } from '../../../core/market/readings.ts'
import { r9 } from '../../../core/shared/numbers.ts'
import type { ProducedRow } from '../../../ports/producer.ts'
import { symbolProducer } from '../../produced-rows.ts'

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

export const orderbookDepth = symbolProducer('orderbook-depth', rowOf, 'the feed has no order book depth')
