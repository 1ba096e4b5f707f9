import type { PayloadOf } from '../events/catalogue.ts'
import { REGIMES } from '../events/brain.ts'
import { r9 } from '../shared/numbers.ts'
import { canonicalSymbol } from '../shared/symbol.ts'
import { weightedTypeOf } from '../signal-types/all.ts'
import type { AuthorSignal, AuthorSignals } from './authors.ts'
import { strengthOf, type ConvictionStrength } from './conviction.ts'
import { type CycleInputs, runCycle } from './cycle.ts'
import type { DecisionRules } from './decision.ts'

export type StoredConviction = PayloadOf<'brain.conviction.v1'>

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
 * Runs the cycle again for one symbol, each time with one difference: without the signals of an author, without those
 * of a domain, or in another regime. `inputs` are those of the stored cycle.
 */
export const whatIfs = (
  conviction: StoredConviction,
  inputs: CycleInputs,
  rules: DecisionRules,
): readonly WhatIf[] => {
  const own = inputsOn(conviction.symbol, inputs, rules)
  const outcome = (change: WhatIf['change'], subject: string, changed: Partial<CycleInputs>): WhatIf => {
    const { convictions } = runCycle({ ...own, ...changed }, rules, (decided) => decided)
    const [decided] = convictions
    if (decided === undefined) throw new Error('a cycle decides on every symbol')
    const { value, direction, effectiveConviction, decision } = decided
    return {
      change,
      subject,
      value,
      direction,
      effective_conviction: effectiveConviction,
      action: decision.action,
      changes_decision: decision.action !== conviction.decision.action,
    }
  }
  const authors = [...new Set(conviction.inputs.map(({ author }) => author))]
  return [
    ...authors.map((id) =>
      outcome('without_author', id, { authors: own.authors.filter(({ author }) => author.id !== id) }),
    ),
    ...conviction.domains_used.map((domain) =>
      outcome('without_domain', domain, {
        authors: withSignals(own.authors, ({ type }) => weightedTypeOf(type)?.domain !== domain),
      }),
    ),
    ...REGIMES.filter((regime) => regime !== conviction.regime).map((regime) =>
      outcome('other_regime', regime, { regime }),
    ),
  ]
}

/** The inputs of one symbol: other symbols have no effect on it, except the one that decides the regime. */
const inputsOn = (name: string, inputs: CycleInputs, { brain }: DecisionRules): CycleInputs => {
  const read = new Set([canonicalSymbol(name), canonicalSymbol(brain.regime_symbol)])
  return {
    ...inputs,
    symbols: [name],
    authors: withSignals(inputs.authors, ({ symbol }) => read.has(symbol)),
  }
}

const withSignals = (
  authors: readonly AuthorSignals[],
  isKept: (signal: AuthorSignal) => boolean,
): readonly AuthorSignals[] =>
  authors.flatMap((one) => {
    const signals = one.signals.filter(isKept)
    return signals.length === 0 ? [] : [{ ...one, signals }]
  })

export const valueOf = ({ inputs }: Pick<StoredConviction, 'inputs'>): number =>
  r9(inputs.reduce((sum, { contribution }) => sum + contribution, 0))

/** The lowest tier that was not reached; null if all were. */
export const distanceOf = (
  conviction: StoredConviction,
  { brain }: Pick<DecisionRules, 'brain'>,
): Distance | null => {
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

const circumstancesOf = ({ regime, counter_thesis }: StoredConviction) => ({
  regime,
  gauges: {
    rsi: counter_thesis['rsi_14'] ?? null,
    funding: counter_thesis['funding_annualized'] ?? null,
    basis: counter_thesis['basis_annualized'] ?? null,
  },
})
