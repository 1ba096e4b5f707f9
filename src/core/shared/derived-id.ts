import type { Sha256Hex } from '../log/hash-chain.ts'

/** UUIDv8 from the first 16 bytes of SHA-256(`<kind>|<cause>`). Replaying the cause gives the same id. */
export const derivedId = (kind: string, cause: string, sha256Hex: Sha256Hex): string => {
  const hex = sha256Hex(`${kind}|${cause}`)
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16)
  const [first, second] = [hex.slice(0, 8), hex.slice(8, 12)]
  return `${first}-${second}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
