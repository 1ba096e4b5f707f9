import type { NewEvent } from '../events/catalogue.ts'
import { averagePrice, ratioOf, signOf, unitsNumber, usdNumber } from '../shared/money.ts'
import type { Price, Quantity, Usd } from '../shared/money.ts'
import { r9 } from '../shared/numbers.ts'
import type { ClosedBy, ExitReason, Position, Trigger } from './positions.ts'

export interface LastFill {
  readonly price: Price
  readonly quantity: Quantity
  readonly notional: Usd
  readonly fee: Usd
}

/** The position as its last fill leaves it: what it made, after everything it cost. */
export const closingEvent = (
  { id, terms, holding, mark }: Position,
  fill: LastFill,
  {
    reason,
    trigger,
    mode,
    by,
  }: {
    readonly reason: ExitReason
    readonly trigger: Trigger | null
    readonly mode: 'paper' | 'live'
    readonly by: ClosedBy | null
  },
): { readonly event: NewEvent; readonly realized: number } => {
  const { exit } = holding
  const quantity = (exit?.quantity ?? 0n) + fill.quantity
  const costBasis = (exit?.costBasis ?? 0n) + fill.price * fill.quantity
  const gross = signOf(terms.direction) * ((exit?.notional ?? 0n) + fill.notional - holding.notional)
  const fees = holding.fees + fill.fee
  const net = gross - fees - holding.funding
  const realized = usdNumber(net)
  const event: NewEvent = {
    type: 'execution.position_closed.v1',
    source: 'oms',
    payload: {
      position_id: id,
      asset: terms.asset,
      exit_price: unitsNumber(averagePrice(costBasis, quantity)),
      realized_pnl: realized,
      realized_pnl_pct: r9(ratioOf(net, holding.notional)),
      fees_usd: usdNumber(fees),
      exit_reason: reason,
      ...(by === null ? {} : { closed_by: by.operator }),
      ...(by === null || by.note === null ? {} : { note: by.note }),
      mode,
      gross_pnl: usdNumber(gross),
      funding_usd: usdNumber(holding.funding),
      trigger,
      max_adverse_pct: mark.maxAdverseExcursion,
      max_favorable_pct: mark.maxFavorableExcursion,
    },
  }
  return { event, realized }
}
