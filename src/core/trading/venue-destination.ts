import { notionalOf, movedPrice, slippedPrice, type Price, type Quantity, type Usd } from '../shared/money.ts'
import type { PaperCosts } from './paper.ts'

/** The name of the venue that is none. */
export const PAPER = 'paper'

/** Where an order would go, and what holds there. */
export type Destination =
  | {
      readonly kind: 'paper'
      readonly name: typeof PAPER
      /** Paper and real money are not mixed in one account. */
      readonly isAvailable: boolean
    }
  | {
      readonly kind: 'venue'
      readonly name: string
      readonly isAvailable: boolean
      readonly isPaperPeriodOver: boolean
      readonly steps: OrderSteps | null
    }

/** How fine a venue takes orders, and the smallest. Null where it does not say. */
export interface OrderSteps {
  readonly quantityStep: Quantity | null
  readonly quantityMin: Quantity | null
  readonly notionalMin: Usd | null
  readonly priceStep: Price | null
}

/** The worst price at which an entry may fill; on the steps of the venue, and never beyond what was meant. */
export const entryLimit = (
  destination: Destination,
  { mid, side, driftMax }: { readonly mid: Price; readonly side: 'buy' | 'sell'; readonly driftMax: number },
): Price | null => {
  if (destination.kind === 'paper') return null
  const step = destination.steps?.priceStep ?? 1n
  const limit = movedPrice(mid, side === 'buy' ? driftMax : -driftMax)
  const below = limit - (limit % step)
  return side === 'buy' || below === limit ? below : below + step
}

/** The price at which a size must still be within its limits. */
export const sizingPrice = (
  {
    mid,
    side,
    limitPrice,
  }: { readonly mid: Price; readonly side: 'buy' | 'sell'; readonly limitPrice: Price | null },
  slippageBps: number,
): Price => {
  if (limitPrice === null) return slippedPrice(mid, side, slippageBps)
  // A seller who gets more than asked for holds more than asked for.
  return side === 'buy' && limitPrice > mid ? limitPrice : mid
}

/** At a venue an entry may cost all that its limit allows. */
export const planningCosts = (
  destination: Destination,
  costs: PaperCosts & { readonly max_entry_drift_pct: number },
): PaperCosts =>
  destination.kind === 'paper'
    ? costs
    : {
        paper_fee_bps: costs.paper_fee_bps,
        paper_slippage_bps: Math.max(costs.paper_slippage_bps, costs.max_entry_drift_pct * 10_000),
      }

/** Down to the steps of the venue; nothing at all where that is less than it takes. */
export const cutQuantity = (destination: Destination, wanted: Quantity, price: Price): Quantity => {
  if (destination.kind === 'paper' || destination.steps === null) return wanted
  const { quantityStep, quantityMin, notionalMin } = destination.steps
  const step = quantityStep ?? 1n
  const quantity = wanted - (wanted % step)
  const isTooSmall = quantity < (quantityMin ?? 0n) || notionalOf(price, quantity) < (notionalMin ?? 0n)
  return isTooSmall ? 0n : quantity
}
