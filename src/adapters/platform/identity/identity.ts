import { randomBytes } from 'node:crypto'
import { publicKeyOf as keyOf } from '../crypto/ed25519.ts'

/** One Ed25519 key and the name it goes by. */
export interface Identity {
  readonly nodeId: string
  /** 64 hex digits. */
  readonly publicKey: string
  /** The private key: 32 bytes. */
  readonly seed: Uint8Array
  /** Not saved anywhere: it ends with the process. */
  readonly ephemeral: boolean
}

/** A new identity that lives as long as the process. */
export const createEphemeralIdentity = (nodePrefix: string): Identity => {
  const seed = randomBytes(SEED_BYTES)
  const publicKey = publicKeyOf(seed)
  return { nodeId: nodeIdOf(nodePrefix, publicKey), publicKey, seed, ephemeral: true }
}

export const publicKeyOf = (seed: Uint8Array): string => keyOf(seed).toString('hex')

export const nodeIdOf = (nodePrefix: string, publicKey: string): string =>
  `${nodePrefix}-${publicKey.slice(0, NODE_ID_HEX_DIGITS)}`

const SEED_BYTES = 32
const NODE_ID_HEX_DIGITS = 16
