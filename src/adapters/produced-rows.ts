import type { SymbolView } from '../core/market/readings.ts'
import type { ProducedRow } from '../ports/producer.ts'

/** Of the symbols that have something to report. A plain loop: producers run every minute. */
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
