import type { SignedClaim } from '../core/shared/decision-context.ts'

export type SignedText = SignedClaim

/** Checks many signatures at once, on all cores. */
export interface Signatures {
  /** Returns the indices, ascending, of the items whose signature does not match text and key. */
  verifyAll(items: readonly SignedText[]): Promise<readonly number[]>
  /** Checks one signature at once, on the deciding thread, by the same rules. */
  isSigned(item: SignedText): boolean
}
