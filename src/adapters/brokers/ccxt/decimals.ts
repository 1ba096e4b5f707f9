import { floored, plus, type Price, type Quantity, type Usd } from '../../../core/shared/money.ts'

/** How digits beyond the last unit are treated. `exact` refuses the number. */
export type Rounding = 'exact' | 'down' | 'up' | 'nearest'

/**
 * A number in whole units of 10^-decimals, from digits as the exchange sent them: nothing passes through a double. Null
 * for a value that is not a number, or that does not fit where `exact` is required.
 */
export const scaledOf = (value: unknown, decimals: number, rounding: Rounding = 'exact'): bigint | null => {
  const match = DECIMAL.exec(
    typeof value === 'number' ? String(value) : typeof value === 'string' ? value : '',
  )
  if (match === null) return null
  const [, sign, whole = '', fraction = '', exponent = '0'] = match
  const shift = decimals + Number(exponent) - fraction.length
  if (Math.abs(shift) > SHIFT_MAX) return null
  const digits = BigInt(`${sign === '-' ? '-' : ''}${whole}${fraction}`)
  return shift >= 0 ? digits * 10n ** BigInt(shift) : divided(digits, 10n ** BigInt(-shift), rounding)
}

export const priceOf = (value: unknown, rounding: Rounding = 'exact'): Price | null =>
  scaledOf(value, 8, rounding) as Price | null

export const quantityOf = (value: unknown, rounding: Rounding = 'exact'): Quantity | null =>
  scaledOf(value, 8, rounding) as Quantity | null

export const usdOf = (value: unknown, rounding: Rounding): Usd | null =>
  scaledOf(value, 6, rounding) as Usd | null

/** Plain digits without exponent or trailing zeros. */
export const decimalText = (units: bigint): string => {
  const size = units < 0n ? -units : units
  const decimals = (size % UNITS).toString().padStart(8, '0').replace(/0+$/, '')
  return `${units < 0n ? '-' : ''}${size / UNITS}${decimals === '' ? '' : `.${decimals}`}`
}

/** Moves a limit to a step: a buyer never pays more than decided, a seller never takes less. */
export const safeLimit = (price: Price, step: Price, side: 'buy' | 'sell'): Price => {
  const below = floored(price, step)
  return side === 'buy' || below === price ? below : plus(below, step)
}

const UNITS = 100_000_000n
const DECIMAL = /^\s*([+-]?)(\d{1,40})(?:\.(\d{0,40}))?(?:e([+-]?\d{1,2}))?\s*$/i
const SHIFT_MAX = 100

const divided = (dividend: bigint, divisor: bigint, rounding: Rounding): bigint | null => {
  const rest = ((dividend % divisor) + divisor) % divisor
  const floor = (dividend - rest) / divisor
  if (rest === 0n) return floor
  switch (rounding) {
    case 'exact':
      return null
    case 'down':
      return floor
    case 'up':
      return floor + 1n
    case 'nearest':
      return 2n * rest < divisor ? floor : floor + 1n
  }
}
