/** One author's claim on a domain. */
export interface Claim {
  /** Above 0. */
  readonly weight: number
  /** Claims of one group count as one, the strongest of them, and share one cap; null is free of any. */
  readonly capGroup: string | null
}

/**
 * Shares in proportion to weight, but no group above the cap. Excess goes to the others in proportion;
 * what nobody may take stays with nobody, so the shares may add up to less than 1.
 */
export const sharesOf = <C extends Claim>(claims: readonly C[], cap: number): ReadonlyMap<C, number> => {
  const units = unitsOf(claims)
  const atCap = new Set<Unit<C>>()
  for (;;) {
    const free = units.filter((unit) => !atCap.has(unit))
    const rate = Math.max(0, 1 - cap * atCap.size) / weightOf(free)
    const over = free.filter((unit) => unit.capped && unit.weight * rate > cap)
    if (over.length === 0) return spread(units, (unit) => (atCap.has(unit) ? cap : unit.weight * rate))
    for (const unit of over) atCap.add(unit)
  }
}

interface Unit<C> {
  readonly capped: boolean
  readonly weight: number
  readonly claims: readonly C[]
}

const unitsOf = <C extends Claim>(claims: readonly C[]): readonly Unit<C>[] => {
  const groups = new Map<string, C[]>()
  for (const claim of claims) {
    if (claim.capGroup === null) continue
    const group = groups.get(claim.capGroup) ?? []
    group.push(claim)
    groups.set(claim.capGroup, group)
  }
  const capped = [...groups.values()].map((group) => ({
    capped: true,
    weight: Math.max(...group.map(({ weight }) => weight)),
    claims: group,
  }))
  const free = claims
    .filter(({ capGroup }) => capGroup === null)
    .map((claim) => ({ capped: false, weight: claim.weight, claims: [claim] }))
  return [...capped, ...free]
}

/** A group's share is divided as the group's claims stand to one another. */
const spread = <C extends Claim>(
  units: readonly Unit<C>[],
  shareOf: (unit: Unit<C>) => number,
): ReadonlyMap<C, number> =>
  new Map(
    units.flatMap((unit) =>
      unit.claims.map((claim) => [claim, (shareOf(unit) * claim.weight) / weightOf(unit.claims)] as const),
    ),
  )

const weightOf = (claims: readonly { readonly weight: number }[]): number =>
  claims.reduce((sum, { weight }) => sum + weight, 0)
