import { r9 } from '../vocabulary/numbers.ts'
import { judge, type Circumstances, type ConvictionRules, type Direction } from './conviction.ts'
import type { Domain } from './signal.ts'
import { valueWithout, type WeighedDomain } from './synthesis.ts'

/** The least that an explanation needs: a conviction, or what the log kept of one. */
export interface Explainable extends Circumstances {
  readonly domains: readonly Pick<WeighedDomain, 'domain' | 'weight' | 'contribution'>[]
}

/** What would have been thought, had one domain been silent. */
export interface DomainExplanation {
  readonly domain: Domain
  /** What it adds to V. */
  readonly contribution: number
  readonly valueWithout: number
  readonly directionWithout: Direction
  readonly effectiveConvictionWithout: number
}

export const explain = (
  { domains, regime, gauges }: Explainable,
  rules: ConvictionRules,
): readonly DomainExplanation[] =>
  domains.map(({ domain, contribution }) => {
    const value = valueWithout(domain, domains)
    const { direction, effectiveConviction } = judge(value, { regime, gauges }, rules)
    return {
      domain,
      contribution: r9(contribution),
      valueWithout: value,
      directionWithout: direction,
      effectiveConvictionWithout: effectiveConviction,
    }
  })
