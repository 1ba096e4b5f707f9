/** Where digits do not fit: refuse the number, or move it to one side. */
export type Rounding = 'exact' | 'down' | 'up' | 'nearest'

/**
 * A number in whole units of 10^-decimals, from digits as the venue wrote them: nothing passes through a double. Null for
 * what is no number, or does not fit exactly where it has to.
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

/** Hundred-millionths, as prices and quantities are kept. */
export const unitsOf = (value: unknown, rounding: Rounding = 'exact'): bigint | null =>
  scaledOf(value, 8, rounding)

/** Plain digits without exponent and without zeros that say nothing. */
export const textOf = (units: bigint): string => {
  const size = units < 0n ? -units : units
  const decimals = (size % UNITS).toString().padStart(8, '0').replace(/0+$/, '')
  return `${units < 0n ? '-' : ''}${size / UNITS}${decimals === '' ? '' : `.${decimals}`}`
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
