import type { Sha256Hex } from '../log/hash-chain.ts'
import type { KillSwitchLevel } from '../shared/level.ts'
import { quantityFor, unitsFrom, usdFrom } from '../shared/money.ts'
import type { Price, Quantity, Usd } from '../shared/money.ts'
import { cutQuantity, entryLimit, planningCosts, sizingPrice, type Destination } from './venue-destination.ts'
import type { Intent } from './intents.ts'
import { perUsdOf } from './paper.ts'
import type { EntryRules } from './rules.ts'
import {
  kellyFraction,
  leastOf,
  sizeLimits,
  type Account,
  type ClosedTrade,
  type SizeLimits,
} from './sizing.ts'

export interface EntryFacts {
  readonly now: string
  readonly level: KillSwitchLevel
  /** Null when nobody knows a price: then nothing is ever guessed. */
  readonly mark: { readonly price: number; readonly ts: string } | null
  readonly account: Account
  /** Newest last. */
  readonly closes: readonly ClosedTrade[]
  /** Open positions and entries under way in the symbol. */
  readonly heldInSymbol: number
  readonly destination: Destination
  readonly rules: EntryRules
  readonly sha256Hex: Sha256Hex
}

export interface OrderPlan {
  readonly mid: Price
  readonly side: 'buy' | 'sell'
  readonly limits: SizeLimits
  readonly notional: Usd
  readonly quantity: Quantity
  /** Null on paper. */
  readonly limitPrice: Price | null
}

/** What would be sent now; null without a price. */
export const planned = (
  { intent }: Intent,
  { mark, account, closes, now, rules, destination }: EntryFacts,
): OrderPlan | null => {
  if (mark === null) return null
  const mid = unitsFrom(mark.price)
  const side = intent.direction === 'long' ? 'buy' : 'sell'
  const wish = {
    sizePct: intent.size_pct,
    leverage: intent.leverage,
    conviction: intent.conviction_score,
  }
  const limits = sizeLimits(wish, account, {
    kelly: kellyFraction(closes, now, rules.risk),
    perUsd: perUsdOf(intent, mid, planningCosts(destination, rules.execution)),
    rules,
  })
  const notional = leastOf(limits)
  const limitPrice = entryLimit(destination, { mid, side, driftMax: rules.execution.max_entry_drift_pct })
  const price = sizingPrice({ mid, side, limitPrice }, rules.execution.paper_slippage_bps)
  const isTooSmall = notional < usdFrom(rules.execution.min_notional_usd) || price <= 0n
  const quantity = isTooSmall ? 0n : cutQuantity(destination, quantityFor(notional, price), price)
  return { mid, side, limits, notional, quantity, limitPrice }
}
