import type { Timestamp, CanonicalSymbol, NodeId } from './brand.ts'
import type { Configuration } from '../config/schema.ts'
import type { Sha256Hex } from '../log/hash-chain.ts'
import type { Quote } from './quote.ts'

/** What a decision may know beyond the log: time, chance, and the operator's settings at that time. */
export interface DecisionContext {
  readonly now: Timestamp
  readonly newId: () => string
  /** Ties the events of one request together. */
  readonly traceId: string | null
  readonly configuration: Configuration
  /** The release that decides. */
  readonly version: string
  readonly sha256Hex: Sha256Hex
  /** The node that decides. */
  readonly nodeId: NodeId
  /** Its Ed25519 signature over the UTF-8 bytes of a text, in base64: for what has to prove itself outside the log. */
  readonly sign: (text: string) => string
  /** Milliseconds since the decision began: for the record only, never for a choice. */
  readonly elapsedMs: () => number
  /**
   * Prices that come with the command, by canonical symbol; null for what cannot be traded at this moment. What is not
   * in it, or where there is none, stands at the newest price of the log.
   */
  readonly prices?: ReadonlyMap<CanonicalSymbol, Quote | null>
}
