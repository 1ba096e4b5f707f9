import type { NodeId } from '../core/shared/brand.ts'
/** One Ed25519 identity. Signs the UTF-8 canonical JSON of payloads, in batches, off the deciding thread. */
export interface Signer {
  readonly nodeId: NodeId
  /** 64 hex digits. */
  readonly publicKey: string
  /** Not saved anywhere: it ends with the process. */
  readonly ephemeral: boolean
  /** One signature (128 hex digits) per text, in order. */
  signAll(texts: readonly string[]): Promise<readonly string[]>
  /** One signature at once, on the deciding thread: for the few texts that carry their own. */
  sign(text: string): string
  close(): Promise<void>
}

/** What anyone may know of the saved identity, without the password. */
export interface IdentityDescription {
  readonly present: boolean
  readonly node_id: string | null
  readonly public_key: string | null
  readonly encrypted: boolean | null
  readonly error: string | null
}
