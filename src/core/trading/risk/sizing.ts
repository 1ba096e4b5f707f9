import type { Timestamp } from '../../shared/brand.ts'
import type { Configuration } from '../../config/schema.ts'
import type { Sha256Hex } from '../../log/hash-chain.ts'
import type { KillSwitchLevel } from '../../shared/level.ts'
import {
  greater,
  lesser,
  minus,
  NO_QUANTITY,
  NO_USD,
  plus,
  quantityFor,
  shareOf,
  usdFrom,
  type Price,
  type Quantity,
  type Usd,
} from '../../shared/money.ts'
import { r9 } from '../../shared/numbers.ts'
import type { AccountStatus } from './account.ts'
import type { Intent } from '../orders/intents.ts'
import { perUsdOf, type PerUsd } from '../orders/fills.ts'
import { kellyEstimate, type TradeReturn, type KellyEstimate } from './kelly.ts'
import {
  type Destination,
  cutQuantity,
  entryLimit,
  planningCosts,
  sizingPrice,
} from '../venue/destination.ts'

export interface EntryFacts {
  readonly now: Timestamp
  readonly level: KillSwitchLevel
  /** Null without a recent price. Prices are never estimated. */
  readonly mark: { readonly price: Price; readonly ts: Timestamp } | null
  readonly account: AccountStatus
  readonly reserved: Reserved
  /** Closed trades, newest last. */
  readonly closes: readonly TradeReturn[]
  /** Number of open positions and pending entries in the symbol. */
  readonly heldInSymbol: number
  /** Whether one of them has the other direction. */
  readonly isHeldAgainst: boolean
  readonly destination: Destination
  readonly rules: EntryRules
  /** Fencing token of the current leader. */
  readonly leaderToken: number
  readonly sha256Hex: Sha256Hex
}

export interface OrderPlan {
  readonly mid: Price
  readonly side: 'buy' | 'sell'
  readonly limits: SizeLimits
  readonly learned: LearnedSize
  readonly notional: Usd
  readonly quantity: Quantity
  /** Null on paper. */
  readonly limitPrice: Price | null
}

/** The order that would be sent now; null without a price. */
export const planned = (
  { intent }: Intent,
  { mark, account, reserved, closes, now, rules, destination }: EntryFacts,
): OrderPlan | null => {
  if (mark === null) return null
  const mid = mark.price
  const side = intent.direction === 'long' ? 'buy' : 'sell'
  const request = {
    sizePct: intent.size_pct,
    isFixed: intent.sizing === 'fixed',
    leverage: intent.leverage,
    conviction: intent.conviction_score,
  }
  const learned = learnedSize(
    kellyEstimate(closes, now, rules.risk.kelly),
    request,
    account.equity,
    rules.risk,
  )
  const limits = sizeLimits(request, account, {
    reserved,
    learned,
    perUsd: perUsdOf(intent, mid, planningCosts(destination, rules.execution)),
    rules,
  })
  const notional = leastOf(limits)
  const limitPrice = entryLimit(destination, { mid, side, driftMax: rules.execution.max_entry_drift_pct })
  const price = sizingPrice({ mid, side, limitPrice }, rules.execution.paper_slippage_bps)
  const isTooSmall = notional < usdFrom(rules.execution.min_notional_usd) || price <= 0n
  const quantity = isTooSmall ? NO_QUANTITY : cutQuantity(destination, quantityFor(notional, price), price)
  return { mid, side, limits, learned, notional, quantity, limitPrice }
}

/** Risk that pending entries may still add to the account. */
export interface Reserved {
  readonly lossAtStop: Usd
  readonly exposure: Usd
  readonly margin: Usd
  /** Slippage and fees, which reduce equity at once. */
  readonly cost: Usd
}

export interface SizeRequest {
  readonly sizePct: number
  readonly isFixed: boolean
  readonly leverage: number
  readonly conviction: number
}

/** All limits of a size in USD. The size is the smallest of them. A requested fixed size has no Kelly limit. */
export type SizeLimits = Readonly<Record<'size_pct' | 'position' | 'heat' | 'exposure' | 'margin', Usd>> & {
  readonly kelly?: Usd
}

/** Size that the results so far allow: the Kelly stake, or a higher floor at which learning continues. */
export interface LearnedSize {
  readonly estimate: KellyEstimate
  readonly kelly: Usd
  readonly floor: Usd
  readonly isProbation: boolean
}

const learnedSize = (
  estimate: KellyEstimate,
  { conviction }: SizeRequest,
  equity: Usd,
  { kelly: { floor: floorShare } }: EntryRules['risk'],
): LearnedSize => {
  const trust = 0.25 + (0.75 * conviction) / 100
  const kelly = portion(equity, estimate.stake * trust)
  // The floor never exceeds the prior stake: without a prior edge nothing is traded.
  const floor = portion(equity, Math.min(floorShare, estimate.priorStake * trust))
  return { estimate, kelly, floor, isProbation: floor > kelly }
}

const sizeLimits = (
  request: SizeRequest,
  account: AccountStatus,
  {
    reserved,
    learned,
    perUsd,
    rules,
  }: {
    readonly reserved: Reserved
    readonly learned: LearnedSize
    readonly perUsd: PerUsd
    readonly rules: EntryRules
  },
): SizeLimits => {
  const { equity } = account
  const equityThen = minus(equity, reserved.cost)
  const { risk, kill_switch: killSwitch } = rules
  const heatMax =
    risk.heat_open_fraction * Math.min(risk.max_portfolio_heat_pct, killSwitch.l2_portfolio_heat_pct)
  return {
    size_pct: portion(equity, request.sizePct),
    ...(request.isFixed ? {} : { kelly: greater(learned.kelly, learned.floor) }),
    position: portion(equity, risk.max_position_pct),
    heat: usdLeft(
      heatMax * Number(equityThen) - Number(plus(account.lossAtStop, reserved.lossAtStop)),
      perUsd.lossAtStop + heatMax * perUsd.cost,
    ),
    exposure: usdLeft(
      risk.max_leverage * Number(equityThen) - Number(plus(account.exposure, reserved.exposure)),
      perUsd.exposure + risk.max_leverage * perUsd.cost,
    ),
    margin: usdLeft(
      Number(minus(equityThen, plus(account.margin, reserved.margin))),
      1 / request.leverage + perUsd.cost,
    ),
  }
}

const leastOf = (limits: SizeLimits): Usd => Object.values(limits).reduce(lesser)

/** Bound for the rounding errors of notional and fee together. */
const ROUNDING = 20

const usdLeft = (free: number, perUsd: number): Usd => {
  const usd = Math.floor(free / perUsd) - ROUNDING
  return usd > 0 ? (BigInt(usd) as Usd) : NO_USD
}

const portion = (equity: Usd, share: number): Usd => (equity <= 0n ? NO_USD : shareOf(equity, r9(share)))

/** Sections of the configuration that entries read. */
export type EntryRules = Pick<Configuration, 'execution' | 'risk' | 'kill_switch'>
