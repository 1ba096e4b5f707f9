import { canonicalSymbol } from '../../../core/shared/symbol.ts'
import type { CanonicalSymbol } from '../../../core/shared/brand.ts'
import type { OrderSteps } from '../../../ports/broker.ts'
import { DOLLARS, memberOf, textMemberOf } from '../../ccxt.ts'
import type { Price, Quantity } from '../../../core/shared/money.ts'
import { priceOf, quantityOf, scaledOf, usdOf } from './decimals.ts'

/** A perpetual that is settled in dollars; orders are sent to these. */
export interface Contract {
  /** As the library names it: `BTC/USDT:USDT`. */
  readonly market: string
  readonly base: CanonicalSymbol
  readonly isActive: boolean
  readonly steps: OrderSteps & { readonly quantityStep: Quantity; readonly priceStep: Price }
  /** What a taker pays, as a share in millionths. */
  readonly takerMillionths: bigint
}

/** One contract per base: the one in the preferred dollar coin. */
export type Contracts = ReadonlyMap<string, Contract>

/** Null where the exchange lists nothing that could be traded. */
export const contractsIn = (markets: unknown): Contracts | null => {
  const found = new Map<string, Contract & { readonly rank: number }>()
  for (const entry of Object.values(typeof markets === 'object' && markets !== null ? markets : {})) {
    const contract = contractIn(entry)
    if (contract === null) continue
    const known = found.get(contract.base)
    if (known === undefined || contract.rank < known.rank) found.set(contract.base, contract)
  }
  return found.size === 0 ? null : found
}

const contractIn = (entry: unknown): (Contract & { readonly rank: number }) | null => {
  const [market, base, quote] = ['symbol', 'base', 'quote'].map((name) => textMemberOf(entry, name))
  if (!market || !base || !quote) return null
  if (memberOf(entry, 'swap') !== true || memberOf(entry, 'linear') !== true) return null
  const rank = DOLLARS.indexOf(quote)
  // Quantities are in units of the base: contracts of another size would make another order.
  if (rank < 0 || quantityOf(memberOf(entry, 'contractSize')) !== ONE) return null
  const [precision, limits] = [memberOf(entry, 'precision'), memberOf(entry, 'limits')]
  const quantityStep = stepOf(memberOf(precision, 'amount'), quantityOf)
  const priceStep = stepOf(memberOf(precision, 'price'), priceOf)
  if (quantityStep === null || priceStep === null) return null
  const [amount, cost] = [memberOf(limits, 'amount'), memberOf(limits, 'cost')]
  return {
    market,
    base: canonicalSymbol(base),
    rank,
    isActive: memberOf(entry, 'active') !== false,
    steps: {
      quantityStep,
      priceStep,
      quantityMin: quantityOf(memberOf(amount, 'min'), 'up'),
      notionalMin: usdOf(memberOf(cost, 'min'), 'up'),
    },
    takerMillionths: scaledOf(memberOf(entry, 'taker'), 6, 'up') ?? TAKER_MILLIONTHS,
  }
}

const ONE = 100_000_000n
/** A tenth of a percent, where the exchange reports no fee. */
const TAKER_MILLIONTHS = 1000n

/** A step finer than our unit is replaced by our unit, if that is a multiple of it. */
const stepOf = <Of extends Price | Quantity>(
  value: unknown,
  read: (value: unknown) => Of | null,
): Of | null => {
  const step = read(value)
  if (step !== null) return step > 0n ? step : null
  const fine = scaledOf(value, 30)
  return fine !== null && fine > 0n && 10n ** 22n % fine === 0n ? (1n as Of) : null
}
