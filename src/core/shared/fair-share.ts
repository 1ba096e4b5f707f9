/** Places that callers share: runs in a queue, streams. An owner is the text that `ownerOf` in `surfaces/caller.ts` makes. */

export const KEY_OWNER_PREFIX = 'key:'

/** Owner of what was made with the API token, or before owners were noted. */
export const TOKEN_OWNER = 'token'

export interface Holder {
  readonly owner: string
  /** Has no share of its own: all places are open to it. */
  readonly isOperator: boolean
}

/**
 * The bound that keeps a holder from another place; null while it may have one. A holder of an access key may have a
 * quarter of the places, and all of them together half: the rest is for the tokens and for operators.
 */
export const boundReached = (
  placesMax: number,
  owners: readonly string[],
  { owner, isOperator }: Holder,
): number | null => {
  if (owners.length >= placesMax) return placesMax
  if (isOperator || !isKey(owner)) return null
  const ownMax = Math.max(1, Math.floor(placesMax / 4))
  if (owners.filter((other) => other === owner).length >= ownMax) return ownMax
  const keysMax = Math.max(1, Math.floor(placesMax / 2))
  return owners.filter(isKey).length >= keysMax ? keysMax : null
}

/** Whether what somebody made may be changed by this holder. */
export const isOwnOrAny = ({ owner, isOperator }: Holder, made: string): boolean =>
  isOperator || owner === made

const isKey = (owner: string): boolean => owner.startsWith(KEY_OWNER_PREFIX)
