import type { SymbolView } from '../../../core/market/readings.ts'
import { r9 } from '../../../core/shared/numbers.ts'
import type { ProducedRow, Producer } from '../../../ports/producer.ts'

export const marketSentiment: Producer = {
  name: 'market-sentiment',
  run: ({ symbols }) => {
    const rows = symbols.flatMap(rowsOf)
    if (rows.length > 0) return { status: 'ran', rows }
    return { status: 'degraded', reason: 'the feed has no fear and greed index' }
  },
}

const rowsOf = ({ symbol, fearGreed, fearGreedChange7d }: SymbolView): readonly ProducedRow[] => {
  if (fearGreed === null) return []
  const now = { symbol, fear_greed: r9(fearGreed) }
  const payload = fearGreedChange7d === null ? now : { ...now, fear_greed_change_7d: r9(fearGreedChange7d) }
  return [{ type: 'signal.sentiment.v1', payload }]
}
