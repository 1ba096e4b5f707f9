import type { SymbolView } from '../../../core/market/readings.ts'
import { r9 } from '../../../core/shared/numbers.ts'
import type { ProducedRow, Producer } from '../../../ports/producer.ts'
import { rowsOfEach } from '../../produced-rows.ts'

export const tradfiBasis: Producer = {
  name: 'tradfi-basis',
  run: ({ symbols }) => {
    const rows = rowsOfEach(symbols, rowOf)
    if (rows.length > 0) return { status: 'ran', rows }
    return { status: 'degraded', reason: 'the feed has no funding, basis or open interest' }
  },
}

const rowOf = (view: SymbolView): ProducedRow | null => {
  const payload: Payload = { symbol: view.symbol }
  const { fundingAnnualized: funding, basisAnnualized: basis, openInterestChangePct: change } = view
  if (funding === null && basis === null && change === null) return null
  if (funding !== null) payload.funding_annualized = r9(funding)
  if (basis !== null) payload.basis_annualized = r9(basis)
  if (change !== null) payload.oi_change_pct = r9(change)
  return { type: 'signal.tradfi.v1', payload: { ...payload } }
}

interface Payload {
  symbol: string
  funding_annualized?: number
  basis_annualized?: number
  oi_change_pct?: number
}
