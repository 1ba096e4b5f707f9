import { assert } from '../shared/assert.ts'
import { byDomain, DOMAINS, type Domain, type DomainWeights } from '../shared/domains.ts'

/** Weights are whole billionths that add up to exactly a billion. */
export const BILLION = 1e9

interface WeightLimits {
  /** Maximum move of a weight. */
  readonly step: number
  readonly floor: number
  readonly ceiling: number
}

/**
 * Moves the weights, then shifts all of them by one amount, found by bisection, so that they add up to 1 within the
 * bounds. Weights at a bound stay there.
 */
export const projected = (
  previous: DomainWeights,
  moves: DomainWeights,
  bounds: WeightLimits,
): DomainWeights => {
  const before = unitsOf(previous)
  const box = boxAround(before, bounds)
  const moved = byDomain((domain) => before[domain] + moves[domain] * BILLION)
  const shift = shiftFor(moved, box)
  const units = byDomain((domain) => Math.round(within(box, domain, moved[domain] + shift)))
  return weightsOf(settled(units, box))
}

/** The weights, scaled so that they add up to exactly 1. */
export const normalized = (weights: DomainWeights): DomainWeights => weightsOf(unitsOf(weights))

/** Difference between two vectors, by domain. */
export const differenceOf = (from: DomainWeights, to: DomainWeights): DomainWeights =>
  byDomain((domain) => (Math.round(to[domain] * BILLION) - Math.round(from[domain] * BILLION)) / BILLION)

interface Box {
  readonly low: DomainWeights
  readonly high: DomainWeights
}

const BISECTIONS = 80

const unitsOf = (weights: DomainWeights): DomainWeights => {
  const sum = totalWeight(weights)
  const units = byDomain((domain) => Math.round((weights[domain] / sum) * BILLION))
  return settled(units, ANYWHERE)
}

const weightsOf = (units: DomainWeights): DomainWeights => byDomain((domain) => units[domain] / BILLION)

/** Weights beyond floor or ceiling return to it, one step per run. */
const boxAround = (before: DomainWeights, bounds: WeightLimits): Box => {
  const step = Math.round(bounds.step * BILLION)
  const floor = Math.round(bounds.floor * BILLION)
  const ceiling = Math.round(bounds.ceiling * BILLION)
  const strict = {
    low: byDomain((domain) => Math.max(before[domain] - step, Math.min(floor, before[domain] + step))),
    high: byDomain((domain) => Math.min(before[domain] + step, Math.max(ceiling, before[domain] - step))),
  }
  if (totalWeight(strict.low) <= BILLION && BILLION <= totalWeight(strict.high)) return strict
  // If the bounds cannot hold the sum, weights outside of them may stay unchanged.
  return {
    low: byDomain((domain) => Math.max(before[domain] - step, Math.min(floor, before[domain]))),
    high: byDomain((domain) => Math.min(before[domain] + step, Math.max(ceiling, before[domain]))),
  }
}

const ANYWHERE: Box = { low: byDomain(() => 0), high: byDomain(() => BILLION) }

const shiftFor = (moved: DomainWeights, box: Box): number => {
  let low = -BILLION
  let high = BILLION
  for (let count = 0; count < BISECTIONS; count += 1) {
    const middle = (low + high) / 2
    const sum = totalWeight(byDomain((domain) => within(box, domain, moved[domain] + middle)))
    if (sum < BILLION) low = middle
    else high = middle
  }
  return high
}

const within = ({ low, high }: Box, domain: Domain, value: number): number =>
  Math.min(high[domain], Math.max(low[domain], value))

/** Distributes the rounding residue unit by unit, in the order of the domains. */
const settled = (units: DomainWeights, box: Box): DomainWeights => {
  const after = { ...units }
  let residue = BILLION - totalWeight(units)
  while (residue !== 0) {
    const unit = Math.sign(residue)
    const receivers = DOMAINS.filter((domain) => within(box, domain, after[domain] + unit) !== after[domain])
    assert(receivers.length > 0, 'weights inside their bounds can add up to 1')
    for (const domain of receivers.slice(0, Math.abs(residue))) after[domain] += unit
    residue = BILLION - totalWeight(after)
  }
  return after
}

const totalWeight = (values: DomainWeights): number =>
  DOMAINS.reduce((sum, domain) => sum + values[domain], 0)
