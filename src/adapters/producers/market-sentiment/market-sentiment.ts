import type { SymbolView } from '../../../core/market/readings.ts'
import { r9 } from '../../../core/shared/numbers.ts'
import type { ProducedRow, Producer } from '../../../ports/producer.ts'
import { rowsOfEach } from '../../produced-rows.ts'

export const marketSentiment: Producer = {
  name: 'market-sentiment',
  run: ({ symbols }) => {
    const rows = rowsOfEach(symbols, rowOf)
    if (rows.length > 0) return { status: 'ran', rows }
    return { status: 'degraded', reason: 'the feed has no fear and greed index' }
  },
}

const rowOf = ({ symbol, fearGreed, fearGreedChange7d }: SymbolView): ProducedRow | null => {
  if (fearGreed === null) return null
  const payload =
    fearGreedChange7d === null
      ? { symbol, fear_greed: r9(fearGreed) }
      : { symbol, fear_greed: r9(fearGreed), fear_greed_change_7d: r9(fearGreedChange7d) }
  return { type: 'signal.sentiment.v1', payload }
}
