/** One author's claim on a domain. */
export interface Claim {
  /** Above 0. */
  readonly weight: number
  /** Claims of one group count as one, the strongest of them, and share one cap; null is free of any. */
  readonly capGroup: string | null
}

/**
 * The share of each claim, in proportion to weight, but no group above the cap. Excess goes to the others in
 * proportion; what nobody may take stays with nobody, so the shares may add up to less than 1.
 */
export const sharesOf = (claims: readonly Claim[], cap: number): readonly number[] => {
  const groups = groupsOf(claims)
  const atCap = new Set<Group>()
  for (;;) {
    const rate = Math.max(0, 1 - cap * atCap.size) / weightOutside(atCap, claims, groups)
    const before = atCap.size
    for (const group of groups.values()) if (group.strongest * rate > cap) atCap.add(group)
    if (atCap.size > before) continue
    return claims.map(({ weight, capGroup }) => {
      const group = capGroup === null ? undefined : groups.get(capGroup)
      if (group === undefined) return weight * rate
      // A group's share is divided as the group's claims stand to one another.
      return ((atCap.has(group) ? cap : group.strongest * rate) * weight) / group.sum
    })
  }
}

interface Group {
  strongest: number
  sum: number
}

const groupsOf = (claims: readonly Claim[]): ReadonlyMap<string, Group> => {
  const groups = new Map<string, Group>()
  for (const { weight, capGroup } of claims) {
    if (capGroup === null) continue
    const group = groups.get(capGroup)
    if (group === undefined) groups.set(capGroup, { strongest: weight, sum: weight })
    else {
      group.strongest = Math.max(group.strongest, weight)
      group.sum += weight
    }
  }
  return groups
}

const weightOutside = (
  atCap: ReadonlySet<Group>,
  claims: readonly Claim[],
  groups: ReadonlyMap<string, Group>,
): number => {
  let sum = 0
  for (const { weight, capGroup } of claims) if (capGroup === null) sum += weight
  for (const group of groups.values()) if (!atCap.has(group)) sum += group.strongest
  return sum
}
