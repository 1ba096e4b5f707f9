import type { Timestamp, CanonicalSymbol, NodeId } from './brand.ts'
import type { Configuration } from '../config/schema.ts'
import type { Sha256Hex } from '../log/hash-chain.ts'
import type { Quote } from './quote.ts'

/** A text, and the signature (128 hex digits) that a public key (64 hex digits) is said to have made of it. */
export interface SignedClaim {
  readonly text: string
  readonly signatureHex: string
  readonly publicKeyHex: string
}

/** Inputs of a decision beyond the log: time, ids, and the operator's settings at that time. */
export interface DecisionContext {
  readonly now: Timestamp
  /** Time of recording; by default now. Later than now where the log already holds a later time. */
  readonly recordedAt?: Timestamp
  readonly newId: () => string
  /** Ties the events of one request together. */
  readonly traceId: string | null
  readonly configuration: Configuration
  /**
   * Hash of the whole configuration. Given only if `configuration` was read from the log, which records a part of it.
   */
  readonly configHash?: string | undefined
  /** The release that decides. */
  readonly version: string
  readonly sha256Hex: Sha256Hex
  /** The node that decides. */
  readonly nodeId: NodeId
  /** Its Ed25519 signature over the UTF-8 bytes of a text, in base64: for what has to prove itself outside the log. */
  readonly sign: (text: string) => string
  /** Whether a key made an Ed25519 signature over the UTF-8 bytes of a text. */
  readonly isSigned: (signed: SignedClaim) => boolean
  /** Milliseconds since the decision began: for the record only, never for a choice. */
  readonly elapsedMs: () => number
  /**
   * Prices that come with the command, by canonical symbol. Null marks a symbol that cannot be traded at this moment. A
   * symbol without an entry is valued at the latest price of the log; without this map, all symbols are.
   */
  readonly prices?: ReadonlyMap<CanonicalSymbol, Quote | null> | undefined
}
