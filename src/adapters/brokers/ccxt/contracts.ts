import { canonicalSymbol } from '../../../core/shared/symbol.ts'
import type { CanonicalSymbol } from '../../../core/shared/brand.ts'
import type { OrderSteps } from '../../../ports/broker.ts'
import { DOLLARS, memberOf, textMemberOf } from '../../ccxt.ts'
import { floored, lesser, type Price, type Quantity } from '../../../core/shared/money.ts'
import { priceOf, quantityOf, scaledOf, decimalText, usdOf } from './decimals.ts'

/** A perpetual settled in dollars. All orders are sent to such contracts. */
export interface Contract {
  /** The library's name of the market: `BTC/USDT:USDT`. */
  readonly market: string
  /** The exchange's name of the market. */
  readonly marketId: string
  readonly base: CanonicalSymbol
  readonly isActive: boolean
  /** Coins in the exchange's unit of quantity: 1, or the size of a contract. */
  readonly unitSize: Quantity
  readonly steps: OrderSteps & { readonly quantityStep: Quantity; readonly priceStep: Price }
  /** The largest quantity of one market order, on the steps. Null where the exchange states none. */
  readonly marketMax: Quantity | null
  /** Taker fee, as a share in millionths. */
  readonly takerMillionths: bigint
}

/** One contract per base: the one in the preferred dollar coin. */
export type Contracts = ReadonlyMap<string, Contract>

/** Null where the exchange lists no contract that can be traded. */
export const contractsIn = (markets: unknown, dollars: readonly string[] = DOLLARS): Contracts | null => {
  const found = new Map<string, Contract & { readonly rank: number }>()
  for (const entry of Object.values(typeof markets === 'object' && markets !== null ? markets : {})) {
    const contract = contractIn(entry, dollars)
    if (contract === null) continue
    const known = found.get(contract.base)
    if (known === undefined || contract.rank < known.rank) found.set(contract.base, contract)
  }
  return found.size === 0 ? null : found
}

const contractIn = (
  entry: unknown,
  dollars: readonly string[],
): (Contract & { readonly rank: number }) | null => {
  const [market, marketId, base, quote] = ['symbol', 'id', 'base', 'quote'].map((name) =>
    textMemberOf(entry, name),
  )
  if (!market || !marketId || !base || !quote) return null
  if (memberOf(entry, 'swap') !== true || memberOf(entry, 'linear') !== true) return null
  const rank = dollars.indexOf(quote)
  const unitSize = quantityOf(memberOf(entry, 'contractSize'))
  if (rank < 0 || unitSize === null || unitSize <= 0n) return null
  const [precision, limits] = [memberOf(entry, 'precision'), memberOf(entry, 'limits')]
  const quantityStep = stepOf(
    memberOf(precision, 'amount'),
    (value) => coinsOf(value, { unitSize }),
    unitSize,
  )
  const priceStep = stepOf(memberOf(precision, 'price'), priceOf, ONE)
  if (quantityStep === null || priceStep === null) return null
  const [amount, cost] = [memberOf(limits, 'amount'), memberOf(limits, 'cost')]
  return {
    market,
    marketId,
    unitSize,
    base: canonicalSymbol(base),
    rank,
    isActive: memberOf(entry, 'active') !== false,
    steps: {
      quantityStep,
      priceStep,
      quantityMin: coinsOf(memberOf(amount, 'min'), { unitSize }),
      notionalMin: usdOf(memberOf(cost, 'min'), 'up'),
    },
    marketMax: marketMaxIn(entry, unitSize, quantityStep),
    takerMillionths: scaledOf(memberOf(entry, 'taker'), 6, 'up') ?? TAKER_MILLIONTHS,
  }
}

/** The library reads this limit for Binance only. */
const marketMaxIn = (entry: unknown, unitSize: Quantity, step: Quantity): Quantity | null => {
  const info = memberOf(entry, 'info')
  const stated = [
    memberOf(memberOf(memberOf(entry, 'limits'), 'market'), 'max'),
    memberOf(memberOf(info, 'lotSizeFilter'), 'maxMktOrderQty'),
    memberOf(info, 'maxMktSz'),
  ]
  const max = stated.flatMap((value) => coinsOf(value, { unitSize }) ?? []).find((value) => value >= step)
  return max === undefined ? null : floored(max, step)
}

/** Coins, from the exchange's unit of quantity. Null for what is no number, or not a whole number of our units. */
export const coinsOf = (value: unknown, { unitSize }: Pick<Contract, 'unitSize'>): Quantity | null => {
  const units = quantityOf(value)
  if (units === null) return null
  const scaled = units * unitSize
  return scaled % ONE === 0n ? ((scaled / ONE) as Quantity) : null
}

/** The quantity on the steps, never more than decided, or the reason why nothing is sent. */
export const sendableQuantity = (wanted: Quantity, { steps }: Pick<Contract, 'steps'>): Quantity | string => {
  const { quantityStep, quantityMin } = steps
  const quantity = floored(wanted, quantityStep)
  if (quantity > 0n && quantity >= (quantityMin ?? 0n)) return quantity
  return `the quantity is below the minimum of ${decimalText(quantityMin ?? quantityStep)}`
}

/** The part of a quantity that fits into one market order. The exchange refuses a larger order; the rest can follow. */
export const withinMax = (quantity: Quantity, { marketMax }: Pick<Contract, 'marketMax'>): Quantity =>
  marketMax === null ? quantity : lesser(quantity, marketMax)

/** Quantity in the exchange's unit. Coins on its steps are always a whole number of our units there. */
export const amountOf = (coins: Quantity, { unitSize }: Pick<Contract, 'unitSize'>): string =>
  decimalText((coins * ONE) / unitSize)

const ONE = 100_000_000n
/** Fee when the exchange reports none: a tenth of a percent. */
const TAKER_MILLIONTHS = 1000n

/** A step finer than our unit is replaced by our unit, if that is a multiple of it. */
const stepOf = <Of extends Price | Quantity>(
  value: unknown,
  read: (value: unknown) => Of | null,
  unitSize: bigint,
): Of | null => {
  const step = read(value)
  if (step !== null) return step > 0n ? step : null
  if (unitSize !== ONE) return null
  const fine = scaledOf(value, 30)
  return fine !== null && fine > 0n && 10n ** 22n % fine === 0n ? (1n as Of) : null
}
