import type { NodeId } from '../core/shared/brand.ts'
/** One Ed25519 identity. Signs the UTF-8 canonical JSON of payloads, in batches, off the deciding thread. */
export interface Signer {
  readonly nodeId: NodeId
  /** 64 hex digits. */
  readonly publicKey: string
  /** True if the identity is not saved and ends with the process. */
  readonly ephemeral: boolean
  /** One signature (128 hex digits) per text, in order. */
  signAll(texts: readonly string[]): Promise<readonly string[]>
  /** Returns one signature at once, on the deciding thread, for the few texts with their own signature. */
  sign(text: string): string
  close(): Promise<void>
}

/** Public facts about the saved identity, available without the password. */
export interface IdentityDescription {
  readonly present: boolean
  readonly node_id: string | null
  readonly public_key: string | null
  readonly encrypted: boolean | null
  readonly error: string | null
}
