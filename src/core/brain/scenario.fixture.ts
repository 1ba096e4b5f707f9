import { canonicalSymbol } from '../shared/symbol.ts'
import { signalId } from '../shared/brand.ts'
import { DEFAULT_CONFIGURATION } from '../config/validate.ts'
import type { JsonObject } from '../shared/json.ts'
import { type CycleInputs, type CycleResult, type DecidedConviction, runCycle } from './cycle.ts'
import type { DecisionRules } from './decision.ts'
import type { IntentRules } from './payloads.ts'
import type { Regime } from './regime.ts'
import {
  type Author,
  authorKeyOf,
  type AuthorSignal,
  type AuthorSignals,
  type ContributorAuthor,
  type ProducerAuthor,
  UNPROVEN,
} from './authors.ts'

export const NOW_MS = Date.UTC(2026, 1, 20)

export const MINUTE_MS = 60_000

export const HOUR_MS = 60 * MINUTE_MS

/** The default configuration. Its type checks that callers can pass the whole configuration. */
export const RULES: DecisionRules & IntentRules = DEFAULT_CONFIGURATION

const WEIGHTS = DEFAULT_CONFIGURATION.weights

const producer =
  (kind: ProducerAuthor['kind']) =>
  (id: string, changes: Partial<ProducerAuthor> = {}): ProducerAuthor => ({
    kind,
    id,
    worth: UNPROVEN,
    intervalMs: null,
    quarantined: false,
    ...changes,
  })

export const builtin = producer('builtin')

export const registered = producer('registered')

/** A newcomer, unless an influence is given. */
export const contributor = (id: string, influence = 0, groupId: string | null = null): ContributorAuthor => ({
  kind: 'contributor',
  id,
  worth: { influence, newcomer: influence === 0 ? 1 : 0, groupId },
})

interface SignalChanges {
  readonly id?: string
  readonly symbol?: string
  readonly author?: Author
  readonly ageMs?: number
  readonly isOver?: boolean
}

/** Defaults: the built-in producer of this kind, ETH, and the current time. */
export const signalOf = (kind: string, payload: JsonObject, changes: SignalChanges = {}): BrainSignal => ({
  id: signalId(changes.id ?? kind),
  type: `signal.${kind}.v1`,
  symbol: canonicalSymbol(changes.symbol ?? 'ETH'),
  author: changes.author ?? builtin(`${kind}-producer`),
  effectiveTimeMs: NOW_MS - (changes.ageMs ?? 0),
  isOver: changes.isOver ?? false,
  payload,
})

export const curatorCall = (
  direction: 'bullish' | 'bearish' | 'neutral',
  conviction: number,
  changes: SignalChanges = {},
): BrainSignal =>
  signalOf('curator', { direction, conviction, rationale: '' }, { author: contributor('ann'), ...changes })

/** BTC data that votes for a regime. */
export const regimeSignals = (regime: Regime): readonly BrainSignal[] => {
  const given = (funding: number, basis: number, rsi: number, fearGreed: number) => [
    signalOf('tradfi', { funding_annualized: funding, basis_annualized: basis }, btc('tradfi')),
    signalOf('ta', { rsi_14: rsi }, btc('ta')),
    signalOf('sentiment', { fear_greed: fearGreed }, btc('sentiment')),
  ]
  switch (regime) {
    case 'BULL':
      return given(12, 5, 58, 62)
    case 'BEAR':
      return given(-3, 1.5, 28, 20)
    case 'CRISIS':
      return given(-15, 5, 50, 12)
    case 'TRANSITION':
      return []
  }
}

const btc = (kind: string): SignalChanges => ({ id: `btc-${kind}`, symbol: 'BTC' })

/** A signal with its author. */
export interface BrainSignal extends AuthorSignal {
  readonly author: Author
  /** True if the latest call of its author on the symbol has ended. */
  readonly isOver: boolean
}

export const authorsOf = (signals: readonly BrainSignal[]): readonly AuthorSignals[] => {
  const keys = new Set(signals.map(({ author }) => authorKeyOf(author)))
  return [...keys].flatMap((key) => {
    const own = signals.filter(({ author }) => authorKeyOf(author) === key)
    return own[0] === undefined
      ? []
      : [{ author: own[0].author, signals: own, openOn: symbolsOfOpenCalls(own) }]
  })
}

const symbolsOfOpenCalls = (signals: readonly BrainSignal[]): AuthorSignals['openOn'] =>
  new Set(signals.filter(({ isOver }) => !isOver).map(({ symbol }) => symbol))

type Scenario = Partial<Omit<CycleInputs, 'authors'>> & { readonly signals?: readonly BrainSignal[] }

export const cycleOf = (scenario: Scenario = {}, rules: DecisionRules = RULES): CycleResult =>
  runCycle(inputsOf(scenario), rules, (conviction) => conviction)

export const inputsOf = ({ signals = [], ...inputs }: Scenario): CycleInputs => ({
  asOfMs: NOW_MS,
  symbols: ['ETH'],
  authors: authorsOf(signals),
  market: [],
  regimeBefore: null,
  killSwitchLevel: 0,
  weights: WEIGHTS,
  holdings: [],
  staleness: { staleCycles: 0, everScored: false },
  ...inputs,
})

/** Conviction of the cycle on its first symbol. */
export const firstOf = ({ convictions }: CycleResult): DecidedConviction => {
  const [first] = convictions
  if (first === undefined) throw new Error('the cycle had no symbol')
  return first
}
