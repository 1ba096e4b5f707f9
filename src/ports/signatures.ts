import type { SignedClaim } from '../core/shared/decision-context.ts'

export type SignedText = SignedClaim

/** Checks many signatures at once, on every core. */
export interface Signatures {
  /** Indices, ascending, of the items whose signature does not belong to text and key. */
  verifyAll(items: readonly SignedText[]): Promise<readonly number[]>
  /** One signature at once, on the deciding thread: by the same rules. */
  isSigned(item: SignedText): boolean
}
