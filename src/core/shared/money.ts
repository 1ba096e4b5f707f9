import type { Brand } from './brand.ts'

/** Whole millionths of a USD. */
export type Usd = Brand<bigint, 'Usd'>
/** Whole hundred-millionths of a USD per unit. */
export type Price = Brand<bigint, 'Price'>
/** Whole hundred-millionths of a unit. */
export type Quantity = Brand<bigint, 'Quantity'>
/** Price times quantity, unrounded: the amount paid for a quantity, from which its exact average price follows. */
export type CostBasis = Brand<bigint, 'CostBasis'>

type Amount = Usd | Price | Quantity | CostBasis

export const NO_USD = 0n as Usd
export const NO_QUANTITY = 0n as Quantity
export const NO_COST_BASIS = 0n as CostBasis

export const plus = <Of extends Amount>(one: Of, other: Of): Of => ((one as bigint) + (other as bigint)) as Of

export const minus = <Of extends Amount>(one: Of, other: Of): Of =>
  ((one as bigint) - (other as bigint)) as Of

export const sumOf = <Of extends Amount>(amounts: readonly Of[]): Of =>
  amounts.reduce<bigint>((sum, amount) => sum + amount, 0n) as Of

export const lesser = <Of extends Amount>(one: Of, other: Of): Of => (one < other ? one : other)
export const greater = <Of extends Amount>(one: Of, other: Of): Of => (one > other ? one : other)

/** Down to a whole number of steps. */
export const floored = <Of extends Price | Quantity>(amount: Of, step: Of): Of =>
  ((amount as bigint) - ((amount as bigint) % (step as bigint))) as Of

export type Direction = 'long' | 'short'

const USD_SCALE = 1_000_000
const UNIT_SCALE = 100_000_000
/** Price times quantity is in 1e-16; a notional is in 1e-6. */
const PRODUCT_PER_USD = 10_000_000_000n
const RATIO_SCALE = 1_000_000_000
const RATIO_UNITS = BigInt(RATIO_SCALE)
const BASIS_POINT_SCALE = 1_000_000
const BASIS_POINT_UNITS = 10_000n * BigInt(BASIS_POINT_SCALE)

/** JSON numbers are doubles: fifteen digits survive the way there and back, a sixteenth may not. */
const EXACT_NUMBER_MAX = 1_000_000_000_000_000
const EXACT_MAX = BigInt(EXACT_NUMBER_MAX)

export const usdFrom = (value: number): Usd => scaledFrom(value, USD_SCALE, 6) as Usd
export const priceFrom = (value: number): Price => scaledFrom(value, UNIT_SCALE, 8) as Price
export const quantityFrom = (value: number): Quantity => scaledFrom(value, UNIT_SCALE, 8) as Quantity

export const usdNumber = (usd: Usd): number => numberFrom(usd, USD_SCALE, 6)
export const priceNumber = (price: Price): number => numberFrom(price, UNIT_SCALE, 8)
export const quantityNumber = (quantity: Quantity): number => numberFrom(quantity, UNIT_SCALE, 8)

/** Whether the price is above zero after rounding to whole units. */
export const roundsToPrice = (value: number): boolean => Math.round(value * UNIT_SCALE) > 0

/** A level that may be missing, such as a stop. */
export const priceOrNull = (value: number | null): Price | null => (value === null ? null : priceFrom(value))
export const priceNumberOrNull = (price: Price | null): number | null =>
  price === null ? null : priceNumber(price)

/** +1 for a long, -1 for a short. */
export const signOf = (direction: Direction): 1n | -1n => (direction === 'long' ? 1n : -1n)

/** The amount for a long, the negated amount for a short. */
export const signed = <Of extends Usd | Price | Quantity>(direction: Direction, amount: Of): Of =>
  (direction === 'long' ? amount : -(amount as bigint)) as Of

export const costOf = (price: Price, quantity: Quantity): CostBasis => (price * quantity) as CostBasis

/** Half-even, as every price and notional. */
export const notionalOf = (price: Price, quantity: Quantity): Usd =>
  fitted(dividedHalfEven(price * quantity, PRODUCT_PER_USD)) as Usd

/** Quantity that the notional buys, rounded down. */
export const quantityFor = (notional: Usd, price: Price): Quantity => {
  const quantity = (notional * PRODUCT_PER_USD) / price
  const step = stepOf(quantity)
  return (quantity - (quantity % step)) as Quantity
}

/** Rounded up: a fee is never understated. */
export const feeOf = (notional: Usd, basisPoints: number): Usd => {
  const scale = BASIS_POINT_UNITS
  return ((notional * scaledBasisPoints(basisPoints) + scale - 1n) / scale) as Usd
}

/** Price after slippage: higher for a buyer, lower for a seller. */
export const slippedPrice = (price: Price, side: 'buy' | 'sell', basisPoints: number): Price => {
  const scale = BASIS_POINT_UNITS
  const slip = scaledBasisPoints(basisPoints)
  return fitted(dividedHalfEven(price * (side === 'buy' ? scale + slip : scale - slip), scale)) as Price
}

/** A price moved by a share of itself. */
export const movedPrice = (price: Price, share: number): Price =>
  fitted(dividedHalfEven(price * BigInt(RATIO_SCALE + Math.round(share * RATIO_SCALE)), RATIO_UNITS)) as Price

export const averagePrice = (costBasis: CostBasis, quantity: Quantity): Price =>
  fitted(dividedHalfEven(costBasis, quantity)) as Price

/** A share of an amount, rounded down. Shares have nine decimals. */
export const shareOf = (amount: Usd, share: number): Usd =>
  ((amount * BigInt(Math.round(share * RATIO_SCALE))) / RATIO_UNITS) as Usd

/** An amount divided by shares that add up to 1. What rounding leaves goes to the first, so that nothing is lost or made. */
export const sharedOut = (amount: Usd, shares: readonly number[]): readonly Usd[] => {
  const whole = shares.map((share) => shareOf(amount, share))
  const residue = amount - sumOf(whole)
  return whole.map((own, index) => (BigInt(index) < residue ? own + 1n : own) as Usd)
}

/** A share of an amount, rounded half-even. */
export const nearestShareOf = (amount: Usd, share: number): Usd =>
  dividedHalfEven(amount * BigInt(Math.round(share * RATIO_SCALE)), RATIO_UNITS) as Usd

/** Margin that a position of this notional requires, rounded up. */
export const marginOf = (notional: Usd, leverage: number): Usd => {
  const scaled = BigInt(Math.max(1, Math.round(leverage * USD_SCALE)))
  return ((notional * BigInt(USD_SCALE) + scaled - 1n) / scaled) as Usd
}

/** Share of an amount that a yearly rate in percent gives for one of `periods` parts of the year, rounded half-even. */
export const periodShareOf = (amount: Usd, percentPerYear: number, periods: bigint): Usd =>
  dividedHalfEven(
    amount * scaledFrom(percentPerYear, UNIT_SCALE, 8),
    100n * periods * BigInt(UNIT_SCALE),
  ) as Usd

/** The return from one price to another; 0 from a price of zero, which no bar has. */
export const returnOf = (from: Price, to: Price): number =>
  from === 0n ? 0 : priceNumber(to) / priceNumber(from) - 1

/** For limits and for display. Never add these ratios up as money. */
export const ratioOf = (part: bigint, whole: bigint): number =>
  whole === 0n ? 0 : Number(part) / Number(whole)

const scaledFrom = (value: number, scale: number, decimals: number): bigint => {
  const scaled = value * scale
  // Below this the product is off by less than half a unit, so rounding finds the decimal that was meant.
  if (Math.abs(scaled) < 1e15) return BigInt(Math.round(scaled))
  const [digits = '0', exponent = '0'] = value.toExponential(14).split('e')
  const shift = Number(exponent) - 14 + decimals
  const whole = BigInt(digits.replace('.', ''))
  return shift >= 0 ? whole * 10n ** BigInt(shift) : dividedHalfEven(whole, 10n ** BigInt(-shift))
}

const numberFrom = (units: bigint, scale: number, decimals: number): number => {
  // Compared as a number, which takes a third of the time. The conversion is exact up to far beyond the limit.
  const number = Number(units)
  const isExact = number < EXACT_NUMBER_MAX && number > -EXACT_NUMBER_MAX
  return isExact ? number / scale : Number(`${fitted(units)}e-${decimals}`)
}

const scaledBasisPoints = (basisPoints: number): bigint => BigInt(Math.round(basisPoints * BASIS_POINT_SCALE))

/** Rounded half-even to fifteen significant digits: a value that JSON cannot carry exactly is not used. */
const fitted = (value: bigint): bigint => {
  const step = stepOf(value)
  return step === 1n ? value : dividedHalfEven(value, step) * step
}

const stepOf = (value: bigint): bigint => {
  if (value < EXACT_MAX && value > -EXACT_MAX) return 1n
  const size = value < 0n ? -value : value
  let step = 10n
  while (size / step >= EXACT_MAX) step *= 10n
  return step
}

const dividedHalfEven = (dividend: bigint, divisor: bigint): bigint => {
  const quotient = dividend / divisor
  const rest = dividend % divisor
  const twice = 2n * (rest < 0n ? -rest : rest)
  if (twice < divisor || (twice === divisor && quotient % 2n === 0n)) return quotient
  return dividend < 0n ? quotient - 1n : quotient + 1n
}
