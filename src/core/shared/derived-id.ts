import type { Sha256Hex } from '../log/hash-chain.ts'

/**
 * UUIDv8 from the first 16 bytes of SHA-256(`<kind>|<cause>`): replaying the cause names the same thing again.
 */
export const derivedId = (kind: string, cause: string, sha256Hex: Sha256Hex): string => {
  const hex = sha256Hex(`${kind}|${cause}`).slice(0, 32)
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16)
  const digits = `${hex.slice(0, 12)}8${hex.slice(13, 16)}${variant}${hex.slice(17)}`
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    digits.slice(12, 16),
    digits.slice(16, 20),
    digits.slice(20),
  ].join('-')
}
