import type { SymbolView } from '../../../core/market/readings.ts'
import { r9 } from '../../../core/shared/numbers.ts'
import type { ProducedRow } from '../../../ports/producer.ts'
import { symbolProducer } from '../../produced-rows.ts'

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

export const tradfiBasis = symbolProducer(
  'tradfi-basis',
  rowOf,
  'the feed has no funding, basis or open interest',
)
