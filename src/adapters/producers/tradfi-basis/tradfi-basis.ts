import type { SymbolView } from '../../../core/market/readings.ts'
import { r9 } from '../../../core/shared/numbers.ts'
import type { ProducedRow, Producer } from '../../../ports/producer.ts'

export const tradfiBasis: Producer = {
  name: 'tradfi-basis',
  run: ({ symbols }) => {
    const rows = symbols.flatMap(rowsOf)
    if (rows.length > 0) return { status: 'ran', rows }
    return { status: 'degraded', reason: 'the feed has no funding, basis or open interest' }
  },
}

const rowsOf = (view: SymbolView): readonly ProducedRow[] => {
  const members = {
    ...member('funding_annualized', view.fundingAnnualized),
    ...member('basis_annualized', view.basisAnnualized),
    ...member('oi_change_pct', view.openInterestChangePct),
  }
  if (Object.keys(members).length === 0) return []
  return [{ type: 'signal.tradfi.v1', payload: { symbol: view.symbol, ...members } }]
}

const member = (name: string, value: number | null): Readonly<Record<string, number>> =>
  value === null ? {} : { [name]: r9(value) }
