/** One author's claim on a domain. */
export interface Claim {
  /** Above 0. */
  readonly weight: number
  /** Claims of one group share one cap; null is free of any. */
  readonly capGroup: string | null
}

/**
 * The share of each claim, in proportion to weight, but no group above the cap. Excess goes to the others in
 * proportion; what nobody may take stays with nobody, so the shares may add up to less than 1.
 */
export const sharesOf = (claims: readonly Claim[], cap: number): readonly number[] => {
  const groups = groupWeights(claims)
  const atCap = new Set<string>()
  for (;;) {
    const rate = Math.max(0, 1 - cap * atCap.size) / weightOutside(atCap, claims)
    const before = atCap.size
    for (const [group, weight] of groups) if (weight * rate > cap) atCap.add(group)
    if (atCap.size > before) continue
    // A group's share is divided as the group's claims stand to one another.
    return claims.map(({ weight, capGroup }) =>
      capGroup !== null && atCap.has(capGroup)
        ? (cap * weight) / (groups.get(capGroup) ?? weight)
        : weight * rate,
    )
  }
}

const weightOutside = (atCap: ReadonlySet<string>, claims: readonly Claim[]): number => {
  let sum = 0
  for (const { weight, capGroup } of claims) {
    if (capGroup === null || !atCap.has(capGroup)) sum += weight
  }
  return sum
}

const groupWeights = (claims: readonly Claim[]): ReadonlyMap<string, number> => {
  const groups = new Map<string, number>()
  for (const { weight, capGroup } of claims) {
    if (capGroup !== null) groups.set(capGroup, (groups.get(capGroup) ?? 0) + weight)
  }
  return groups
}
