import type { SymbolView } from '../../../core/market/readings.ts'
import { r9 } from '../../../core/shared/numbers.ts'
import type { ProducedRow } from '../../../ports/producer.ts'
import { symbolProducer } from '../../produced-rows.ts'

const rowOf = ({ symbol, fearGreed, fearGreedChange7d }: SymbolView): ProducedRow | null => {
  if (fearGreed === null) return null
  const payload =
    fearGreedChange7d === null
      ? { symbol, fear_greed: r9(fearGreed) }
      : { symbol, fear_greed: r9(fearGreed), fear_greed_change_7d: r9(fearGreedChange7d) }
  return { type: 'signal.sentiment.v1', payload }
}

export const marketSentiment = symbolProducer(
  'market-sentiment',
  rowOf,
  'the feed has no fear and greed index',
)
