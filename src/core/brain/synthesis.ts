import type { DomainWeights } from '../shared/domains.ts'
import { clamp01, r9 } from '../shared/numbers.ts'
import type { DomainScore } from './domain-score.ts'

/** All domains as one value. */
export interface Synthesis {
  /** V: -1 to 1, nine decimals. */
  readonly value: number
  /** How much of all that could be known is known, 0 to 1. */
  readonly coverage: number
  /** 1 if all domains pull one way, 0 if they cancel out. */
  readonly agreement: number
  readonly domains: readonly WeighedDomain[]
}

export interface WeighedDomain extends DomainScore {
  /** Of the domains that spoke, by base weight and quality; these add up to 1. */
  readonly weight: number
  /** weight · value: what it adds to the whole. */
  readonly contribution: number
}

export const synthesize = (scores: readonly DomainScore[], weights: DomainWeights): Synthesis => {
  const total = sum(scores.map(({ domain, quality }) => weights[domain] * quality))
  const domains = scores.map(({ domain, value, quality }): WeighedDomain => {
    const weight = total === 0 ? 0 : (weights[domain] * quality) / total
    return { domain, value, quality, weight, contribution: weight * value }
  })
  const pull = sum(domains.map(({ contribution }) => contribution))
  const effort = sum(domains.map(({ contribution }) => Math.abs(contribution)))
  return {
    value: r9(pull),
    coverage: clamp01(total),
    agreement: effort === 0 ? 0 : clamp01(Math.abs(pull) / effort),
    domains,
  }
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
