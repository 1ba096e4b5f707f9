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
  const { groups, groupOf } = groupsOf(claims)
  const atCap = new Set<Group>()
  for (;;) {
    const rate = Math.max(0, 1 - cap * atCap.size) / weightOutside(atCap, claims, groups)
    const before = atCap.size
    for (const group of groups) if (group.strongest * rate > cap) atCap.add(group)
    if (atCap.size > before) continue
    return claims.map(({ weight }, index) => {
      const group = groupOf[index] ?? null
      if (group === null) return weight * rate
      // A group's share is divided as the group's claims stand to one another.
      return ((atCap.has(group) ? cap : group.strongest * rate) * weight) / group.sum
    })
  }
}

interface Group {
  strongest: number
  sum: number
}

interface Groups {
  readonly groups: readonly Group[]
  /** By claim; null for one that is free of any cap. */
  readonly groupOf: readonly (Group | null)[]
}

const groupsOf = (claims: readonly Claim[]): Groups => {
  const byName = new Map<string, Group>()
  const groupOf = claims.map(({ weight, capGroup }) => {
    if (capGroup === null) return null
    const known = byName.get(capGroup)
    const group = known ?? { strongest: weight, sum: 0 }
    if (known === undefined) byName.set(capGroup, group)
    group.strongest = Math.max(group.strongest, weight)
    group.sum += weight
    return group
  })
  return { groups: [...byName.values()], groupOf }
}

const weightOutside = (
  atCap: ReadonlySet<Group>,
  claims: readonly Claim[],
  groups: readonly Group[],
): number => {
  let sum = 0
  for (const { weight, capGroup } of claims) if (capGroup === null) sum += weight
  for (const group of groups) if (!atCap.has(group)) sum += group.strongest
  return sum
}
