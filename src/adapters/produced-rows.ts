import type { MarketView, SymbolView } from '../core/market/readings.ts'
import type { ProducedRow, Producer } from '../ports/producer.ts'

/** Rows of the symbols that have something to report. A plain loop, because producers run every minute. */
export const rowsOfEach = (
  symbols: readonly SymbolView[],
  rowOf: (view: SymbolView) => ProducedRow | null,
): readonly ProducedRow[] => {
  const rows: ProducedRow[] = []
  for (const view of symbols) {
    const row = rowOf(view)
    if (row !== null) rows.push(row)
  }
  return rows
}

/** A producer that reports itself degraded when no symbol has a row. */
export const symbolProducer = (
  name: string,
  rowOf: (view: SymbolView, market: MarketView) => ProducedRow | null,
  noneReason: string,
): Producer => ({
  name,
  run: (market) => {
    const rows = rowsOfEach(market.symbols, (view) => rowOf(view, market))
    return rows.length > 0 ? { status: 'ran', rows } : { status: 'degraded', reason: noneReason }
  },
})
