import type { Configuration } from '../config/schema.ts'
import type { PayloadOf } from '../events/catalogue.ts'
import { REGIMES } from '../events/brain.ts'
import { r9 } from '../shared/numbers.ts'
import { strengthOf, type ConvictionStrength } from './conviction.ts'
import type { Regime } from './regime.ts'
import { sharesOf } from './domain-score.ts'

export type StoredConviction = PayloadOf<'brain.conviction.v1'>
type StoredInput = StoredConviction['inputs'][number]

export type ExplainRules = Pick<Configuration, 'brain'>

/** Result of a cycle if one input had been different. */
interface WhatIf {
  readonly change: 'without_author' | 'without_domain' | 'other_regime'
  /** The author, domain or regime. */
  readonly subject: string
  readonly value: number
  readonly direction: ConvictionStrength['direction']
  readonly effective_conviction: number
  readonly action: StoredConviction['decision']['action']
  /** Whether the decision would have been different. */
  readonly changes_decision: boolean
}

/** Distance of the evidence from the next tier. */
interface Distance {
  readonly tier: number
  /** Strength of evidence (|V|) that reaches the tier; null if the regime's cap makes it unreachable. */
  readonly value_needed: number | null
  readonly value_missing: number | null
}

/**
 * Computed from the stored event and the current rules. The share of the removed author goes to the others in
 * proportion to their stored shares.
 */
export const whatIfs = (
  conviction: StoredConviction,
  rules: ExplainRules,
  isCapped: (author: string) => boolean,
): readonly WhatIf[] => {
  const authors = [...new Set(conviction.inputs.map(({ author }) => author))]
  const outcome = (
    change: WhatIf['change'],
    subject: string,
    inputs: readonly StoredInput[],
    regime: Regime,
  ) => outcomeOf(conviction, { change, subject }, { inputs, regime, rules, isCapped })
  return [
    ...authors.map((author) =>
      outcome(
        'without_author',
        author,
        without(conviction, (input) => input.author === author),
        conviction.regime,
      ),
    ),
    ...conviction.domains_used.map((domain) =>
      outcome(
        'without_domain',
        domain,
        without(conviction, (input) => input.domain === domain),
        conviction.regime,
      ),
    ),
    ...REGIMES.filter((regime) => regime !== conviction.regime).map((regime) =>
      outcome('other_regime', regime, conviction.inputs, regime),
    ),
  ]
}

export const valueOf = ({ inputs }: Pick<StoredConviction, 'inputs'>): number =>
  r9(inputs.reduce((sum, { contribution }) => sum + contribution, 0))

/** The lowest tier that was not reached; null if all were. */
export const distanceOf = (conviction: StoredConviction, { brain }: ExplainRules): Distance | null => {
  const tier = brain.tiers.find((threshold) => conviction.effective_conviction < threshold)
  if (tier === undefined) return null
  const value = valueOf(conviction)
  const magnitude = (tier - 50) / 5
  const damping = 1 - conviction.cts_score / brain.cts.damping_points
  const strongest = strengthOf(value < 0 ? -1 : 1, circumstancesOf(conviction), brain)
  const isInReach = damping > 0 && strongest.magnitude >= magnitude && magnitude / 10 / damping <= 1
  if (!isInReach) return { tier, value_needed: null, value_missing: null }
  const needed = magnitude / 10 / damping
  return { tier, value_needed: r9(needed), value_missing: r9(Math.max(0, needed - Math.abs(value))) }
}

const without = (
  { inputs }: StoredConviction,
  isGone: (input: StoredInput) => boolean,
): readonly StoredInput[] => inputs.filter((input) => !isGone(input))

const circumstancesOf = ({ regime, counter_thesis }: StoredConviction) => ({
  regime,
  gauges: {
    rsi: counter_thesis['rsi_14'] ?? null,
    funding: counter_thesis['funding_annualized'] ?? null,
    basis: counter_thesis['basis_annualized'] ?? null,
  },
})

interface Hypothesis {
  readonly inputs: readonly StoredInput[]
  readonly regime: Regime
  readonly rules: ExplainRules
  readonly isCapped: (author: string) => boolean
}

const outcomeOf = (
  conviction: StoredConviction,
  named: Pick<WhatIf, 'change' | 'subject'>,
  { inputs, regime, rules, isCapped }: Hypothesis,
): WhatIf => {
  const domains = domainsWithout(conviction, inputs, rules.brain.share_cap, isCapped)
  const total = domains.reduce((sum, { weight }) => sum + weight, 0)
  const value = r9(
    total === 0 ? 0 : domains.reduce((sum, { weight, value: own }) => sum + (weight / total) * own, 0),
  )
  const circumstances = { ...circumstancesOf(conviction), regime }
  const { direction, effectiveConviction } = strengthOf(value, circumstances, rules.brain)
  const action = actionOf(
    conviction,
    { direction, effectiveConviction, domains: domains.length, regime },
    rules,
  )
  return {
    ...named,
    value,
    direction,
    effective_conviction: effectiveConviction,
    action,
    changes_decision: action !== conviction.decision.action,
  }
}

interface HypotheticalDomain {
  readonly weight: number
  readonly value: number
}

/** The domains that still have inputs, with their new weight and value. */
const domainsWithout = (
  conviction: StoredConviction,
  inputs: readonly StoredInput[],
  cap: number,
  isCapped: (author: string) => boolean,
): readonly HypotheticalDomain[] =>
  conviction.domains_used.flatMap((domain): readonly HypotheticalDomain[] => {
    const before = conviction.inputs.filter((input) => input.domain === domain)
    const after = inputs.filter((input) => input.domain === domain)
    if (after.length === 0) return []
    const weight = (conviction.domain_weights[domain] ?? 0) * (bestOf(after) / bestOf(before))
    const shares = after.length === before.length ? null : sharesAgain(after, cap, isCapped)
    const value = after.reduce((sum, input) => sum + (shares?.get(input) ?? input.share) * input.evidence, 0)
    return [{ weight, value }]
  })

const bestOf = (inputs: readonly StoredInput[]): number =>
  inputs.reduce((best, { quality }) => Math.max(best, quality), 0)

const sharesAgain = (
  inputs: readonly StoredInput[],
  cap: number,
  isCapped: (author: string) => boolean,
): ReadonlyMap<StoredInput, number> => {
  const byAuthor = new Map<string, { readonly own: StoredInput[]; weight: number }>()
  for (const input of inputs) {
    if (input.share === 0) continue
    const known = byAuthor.get(input.author) ?? { own: [], weight: 0 }
    known.own.push(input)
    known.weight += input.share
    byAuthor.set(input.author, known)
  }
  const claims = [...byAuthor].map(([author, { weight }]) => ({
    weight,
    capGroup: isCapped(author) ? author : null,
  }))
  const shares = claims.length === 0 ? [] : sharesOf(claims, cap)
  return new Map(
    [...byAuthor.values()].flatMap(({ own, weight }, index) =>
      own.map((input) => [input, ((shares[index] ?? 0) * input.share) / weight] as const),
    ),
  )
}

interface HypotheticalResult {
  readonly direction: ConvictionStrength['direction']
  readonly effectiveConviction: number
  readonly domains: number
  readonly regime: Regime
}

/** The action under the kill switch and the holdings of that time. */
const actionOf = (
  { decision }: StoredConviction,
  { direction, effectiveConviction, domains, regime }: HypotheticalResult,
  { brain }: ExplainRules,
): WhatIf['action'] => {
  if (decision.reasons.includes('hold')) return decision.action === 'exit' ? 'exit' : 'hold'
  const isStopped =
    direction === 'neutral' ||
    decision.reasons.includes('kill_switch') ||
    regime === 'CRISIS' ||
    domains < brain.min_domains ||
    effectiveConviction < brain.tiers[0]
  return isStopped ? 'none' : direction
}
