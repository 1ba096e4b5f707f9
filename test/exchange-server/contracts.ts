import { product, textOf, unitsOf } from './decimals.ts'
import { ExchangeRefusal } from './signed.ts'

/** Order limits of a perpetual. */
export interface ContractSpec {
  readonly priceStep: string
  readonly quantityStep: string
  readonly quantityMax: string
  readonly marketQuantityMax: string
  readonly notionalMin: string
}

/** Specifications by base. `*` applies to all others. */
export type ContractSpecs = Readonly<Record<string, ContractSpec>>

/** An order to be checked, in hundred-millionths. */
export interface CheckedOrder {
  readonly quantity: bigint
  /** Null for market orders. */
  readonly price: bigint | null
  readonly marketPrice: bigint
  readonly isReduceOnly: boolean
}

export const contractMarket = (base: string) => {
  const contract = specOf(BINANCE_SPECS, base)
  return {
    symbol: `${base}USDT`,
    pair: `${base}USDT`,
    contractType: 'PERPETUAL',
    deliveryDate: 4_133_404_800_000,
    onboardDate: 1_569_398_400_000,
    status: 'TRADING',
    baseAsset: base,
    quoteAsset: 'USDT',
    marginAsset: 'USDT',
    pricePrecision: 4,
    quantityPrecision: 3,
    baseAssetPrecision: 8,
    quotePrecision: 8,
    orderTypes: ['LIMIT', 'MARKET'],
    timeInForce: ['GTC', 'IOC', 'FOK', 'GTX'],
    filters: [
      {
        filterType: 'PRICE_FILTER',
        minPrice: contract.priceStep,
        maxPrice: '10000000',
        tickSize: contract.priceStep,
      },
      {
        filterType: 'LOT_SIZE',
        minQty: contract.quantityStep,
        maxQty: contract.quantityMax,
        stepSize: contract.quantityStep,
      },
      {
        filterType: 'MARKET_LOT_SIZE',
        minQty: contract.quantityStep,
        maxQty: contract.marketQuantityMax,
        stepSize: contract.quantityStep,
      },
      { filterType: 'MAX_NUM_ORDERS', limit: 200 },
      { filterType: 'MIN_NOTIONAL', notional: contract.notionalMin },
      {
        filterType: 'PERCENT_PRICE',
        multiplierUp: '1.0500',
        multiplierDown: '0.9500',
        multiplierDecimal: '4',
      },
    ],
  }
}

/** Refuses an order that a filter rejects, with the code of the real venue. */
export const checkFilters = (specs: ContractSpecs, base: string, order: CheckedOrder): void => {
  const contract = specOf(specs, base)
  const { quantity, price, marketPrice, isReduceOnly } = order
  const isMarket = price === null
  if (quantity <= 0n) throw new ExchangeRefusal(-4003, 'Quantity less than or equal to zero.')
  if (quantity % exact(contract.quantityStep) !== 0n)
    throw new ExchangeRefusal(-1111, 'Precision is over the maximum defined for this asset.')
  if (quantity > exact(isMarket ? contract.marketQuantityMax : contract.quantityMax))
    throw new ExchangeRefusal(-4005, 'Quantity greater than max quantity.')
  if (!isMarket) checkPrice(contract, price, marketPrice)
  // Closing orders are exempt from the minimum notional at the venue.
  if (!isReduceOnly && product(quantity, price ?? marketPrice) < exact(contract.notionalMin))
    throw new ExchangeRefusal(
      -4164,
      `Order's notional must be no smaller than ${contract.notionalMin} (unless you choose reduce only).`,
    )
}

/** Checks that quantity and price are on their steps. */
export const checkSteps = (
  specs: ContractSpecs,
  base: string,
  { quantity, price }: { readonly quantity: bigint; readonly price: bigint },
): void => {
  if (quantity <= 0n) throw new ExchangeRefusal(-4003, 'Quantity less than or equal to zero.')
  if (quantity % quantityStepOf(specs, base) !== 0n)
    throw new ExchangeRefusal(-1111, 'Precision is over the maximum defined for this asset.')
  if (price <= 0n) throw new ExchangeRefusal(-4001, 'Price less than 0.')
  if (price % priceStepOf(specs, base) !== 0n)
    throw new ExchangeRefusal(-4014, 'Price not increased by tick size.')
}

export const quantityStepOf = (specs: ContractSpecs, base: string): bigint =>
  exact(specOf(specs, base).quantityStep)

export const priceStepOf = (specs: ContractSpecs, base: string): bigint =>
  exact(specOf(specs, base).priceStep)

export const specOf = (specs: ContractSpecs, base: string): ContractSpec => {
  const spec = specs[base] ?? specs['*']
  if (spec === undefined) throw new Error(`no contract for ${base}`)
  return spec
}

const checkPrice = (contract: ContractSpec, price: bigint, marketPrice: bigint): void => {
  if (price <= 0n) throw new ExchangeRefusal(-4001, 'Price less than 0.')
  if (price % exact(contract.priceStep) !== 0n)
    throw new ExchangeRefusal(-4014, 'Price not increased by tick size.')
  const [highest, lowest] = [(marketPrice * 105n) / 100n, (marketPrice * 95n) / 100n]
  if (price > highest)
    throw new ExchangeRefusal(-4016, `Limit price can't be higher than ${textOf(highest)}.`)
  if (price < lowest) throw new ExchangeRefusal(-4024, `Limit price can't be lower than ${textOf(lowest)}.`)
}

const exact = (text: string): bigint => unitsOf(text) ?? 0n

export const BINANCE_SPECS: ContractSpecs = {
  '*': {
    priceStep: '0.001',
    quantityStep: '0.01',
    quantityMax: '100000',
    marketQuantityMax: '20000',
    notionalMin: '5',
  },
  BTC: {
    priceStep: '0.10',
    quantityStep: '0.001',
    quantityMax: '1000',
    marketQuantityMax: '120',
    notionalMin: '100',
  },
  ETH: {
    priceStep: '0.01',
    quantityStep: '0.001',
    quantityMax: '10000',
    marketQuantityMax: '2000',
    notionalMin: '20',
  },
}
