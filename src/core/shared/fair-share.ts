/**
 * Places that callers share, such as runs in a queue or streams. An owner is a text that `ownerOf` in
 * `surfaces/caller.ts` returns.
 */

export const KEY_OWNER_PREFIX = 'key:'

/** Owner of resources created with the API token, or before owners were recorded. */
export const TOKEN_OWNER = 'token'

export interface Holder {
  readonly owner: string
  /** True for operators, who may use all places. */
  readonly isOperator: boolean
}

/**
 * The bound that keeps a holder from another place; null if it may have one. Each access key may have a quarter of the
 * places, and all access keys together half. The rest is for tokens and operators.
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

/** Whether this holder may change a resource of that owner. */
export const isOwnOrAny = ({ owner, isOperator }: Holder, made: string): boolean =>
  isOperator || owner === made

const isKey = (owner: string): boolean => owner.startsWith(KEY_OWNER_PREFIX)
