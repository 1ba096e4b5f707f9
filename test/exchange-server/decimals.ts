/** Whole hundred-millionths: what the venue counts in. Null for text that is no plain decimal that fits. */
export const unitsOf = (text: string | null): bigint | null => {
  const match = /^(\d{1,18})(?:\.(\d{1,8}))?$/.exec(text ?? '')
  if (match === null) return null
  return BigInt(match[1] ?? '0') * UNITS + BigInt((match[2] ?? '').padEnd(8, '0'))
}

export const textOf = (units: bigint): string => {
  const size = units < 0n ? -units : units
  const decimals = (size % UNITS).toString().padStart(8, '0')
  return `${units < 0n ? '-' : ''}${size / UNITS}.${decimals}`
}

/** Price times quantity, or the like, rounded towards zero. */
export const product = (left: bigint, right: bigint): bigint => (left * right) / UNITS

const UNITS = 100_000_000n
