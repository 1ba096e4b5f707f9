import type { Price } from '../shared/money.ts'
import type { CanonicalSymbol } from '../shared/brand.ts'
import { UNSEEN_MARKET, type MarketFacts } from '../signal-types/declare.ts'
import type { DomainWeights } from '../shared/domains.ts'
import type { KillSwitchLevel } from '../shared/level.ts'
import { canonicalSymbol } from '../shared/symbol.ts'
import type { AuthorSignals } from './authors.ts'
import { convictionOf, type Conviction } from './conviction.ts'
import {
  decisionOf,
  intentOf,
  type DecisionRules,
  type PositionOrIntent,
  type TradeDecision,
  type TradeIntent,
} from './decision.ts'
import { scoreDomains } from './domain-score.ts'
import type { Staleness } from './evolve.ts'
import { freshSignals, signalsBySymbol, type FreshSignal, type SymbolSignals } from './fresh-signals.ts'
import {
  detectRegime,
  gaugesOf,
  regimeChange,
  type Gauges,
  type Regime,
  type RegimeChange,
  type RegimeReading,
} from './regime.ts'

export interface CycleInputs {
  /** Time from which ages of signals are measured. */
  readonly asOfMs: number
  /** Signals up to this time count; those after `asOfMs` count as new. Default: `asOfMs`. */
  readonly nowMs?: number
  /** The universe. Two spellings of one symbol count once, under the first spelling. */
  readonly symbols: readonly string[]
  /** One entry per author. */
  readonly authors: readonly AuthorSignals[]
  readonly market: readonly (MarketFacts & { readonly symbol: CanonicalSymbol })[]
  readonly regimeBefore: Regime | null
  /** Regime of a hypothetical cycle, in place of the detected one. */
  readonly regime?: Regime
  readonly killSwitchLevel: KillSwitchLevel
  readonly weights: DomainWeights
  readonly holdings: readonly PositionOrIntent[]
  readonly staleness: Staleness
}

export interface DecidedConviction extends Conviction {
  readonly decision: TradeDecision
}

/** An intent with the conviction behind it. */
export interface DecidedIntent extends TradeIntent {
  readonly conviction: DecidedConviction
}

export interface CycleResult<Kept = DecidedConviction> {
  readonly regime: RegimeReading
  readonly regimeChange: RegimeChange | null
  readonly killSwitchLevel: KillSwitchLevel
  readonly weights: DomainWeights
  /** One conviction per symbol, in the order of the universe. */
  readonly convictions: readonly Kept[]
  readonly intents: readonly DecidedIntent[]
  readonly staleness: Staleness
  readonly warnings: readonly string[]
}

/** `keep` reduces each conviction at once, because all convictions with all inputs would take much memory. */
export const runCycle = <Kept>(
  inputs: CycleInputs,
  rules: DecisionRules,
  keep: (conviction: DecidedConviction) => Kept,
): CycleResult<Kept> => {
  const { asOfMs, nowMs, killSwitchLevel, weights, regimeBefore } = inputs
  const signals = signalsBySymbol(inputs.authors)
  const market = new Map(inputs.market.map((facts) => [facts.symbol, facts]))
  const holdings = bySymbol(inputs.holdings)
  const ofRegime = regimeIn(signals, inputs, rules.brain)
  const regime = inputs.regime === undefined ? ofRegime.regime : { ...ofRegime.regime, regime: inputs.regime }
  const convictions: Kept[] = []
  const intents: DecidedIntent[] = []
  let anyScored = false
  for (const [key, symbol] of distinct(inputs.symbols)) {
    const { fresh, gauges } =
      key === ofRegime.symbol
        ? ofRegime
        : gaugedSignals(signals.get(key), { asOfMs, nowMs }, rules.brain.quality_seconds)
    const facts = market.get(key) ?? UNSEEN_MARKET
    const scores = scoreDomains(fresh, facts, rules.brain)
    const circumstances = { regime: regime.regime, gauges }
    const conviction = convictionOf(symbol, scores, weights, circumstances, rules.brain)
    const held = { killSwitchLevel, holdings: holdings.get(key) ?? [] }
    const decided: DecidedConviction = { ...conviction, decision: decisionOf(conviction, held, rules) }
    convictions.push(keep(decided))
    intents.push(...intentsOf(decided, facts.mark, rules))
    anyScored ||= scores.length > 0
  }
  return {
    regime,
    regimeChange: regimeChange(regimeBefore, regime),
    killSwitchLevel,
    weights,
    convictions,
    intents,
    staleness: stalenessAfter(inputs.staleness, anyScored),
    warnings: killSwitchLevel === 0 ? [] : [`kill_switch_level_${killSwitchLevel}`],
  }
}

/** The regime alone, for kill-switch levels at which no cycle runs. */
export const watchRegime = (
  { authors, ...times }: Pick<CycleInputs, 'authors' | 'asOfMs' | 'nowMs'>,
  rules: DecisionRules['brain'],
): RegimeReading => regimeIn(signalsBySymbol(authors), times, rules).regime

const regimeIn = (
  signals: ReadonlyMap<CanonicalSymbol, SymbolSignals>,
  { asOfMs, nowMs }: Pick<CycleInputs, 'asOfMs' | 'nowMs'>,
  rules: DecisionRules['brain'],
): GaugedSignals & { readonly symbol: CanonicalSymbol; readonly regime: RegimeReading } => {
  const symbol = canonicalSymbol(rules.regime_symbol)
  const { fresh, gauges } = gaugedSignals(signals.get(symbol), { asOfMs, nowMs }, rules.quality_seconds)
  return { symbol, fresh, gauges, regime: detectRegime(gauges, rules.regime) }
}

interface GaugedSignals {
  readonly fresh: readonly FreshSignal[]
  readonly gauges: Gauges
}

const gaugedSignals = (...given: Parameters<typeof freshSignals>): GaugedSignals => {
  const fresh = freshSignals(...given)
  return { fresh, gauges: gaugesOf(fresh) }
}

const intentsOf = (
  conviction: DecidedConviction,
  mark: Price | null,
  rules: DecisionRules,
): readonly DecidedIntent[] => {
  const { action } = conviction.decision
  if (action !== 'long' && action !== 'short') return []
  return [{ ...intentOf(conviction, action, mark, rules), conviction }]
}

const stalenessAfter = (before: Staleness, anyScored: boolean): Staleness => {
  if (anyScored) return { staleCycles: 0, everScored: true }
  return before.everScored ? { ...before, staleCycles: before.staleCycles + 1 } : before
}

/** Pairs of canonical symbol and first spelling. */
const distinct = (symbols: readonly string[]): readonly (readonly [CanonicalSymbol, string])[] => {
  const spellings = new Map<CanonicalSymbol, string>()
  for (const symbol of symbols) {
    const key = canonicalSymbol(symbol)
    if (!spellings.has(key)) spellings.set(key, symbol)
  }
  return [...spellings]
}

const bySymbol = (
  holdings: readonly PositionOrIntent[],
): ReadonlyMap<CanonicalSymbol, readonly PositionOrIntent[]> => {
  const grouped = new Map<CanonicalSymbol, readonly PositionOrIntent[]>()
  for (const holding of holdings) {
    grouped.set(holding.symbol, [...(grouped.get(holding.symbol) ?? []), holding])
  }
  return grouped
}
