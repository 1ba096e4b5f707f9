import type { Configuration } from '../config/schema.ts'
import type { Price } from '../shared/money.ts'
import type { CanonicalSymbol, IntentId, PositionId, SignalId } from '../shared/brand.ts'
import type { KillSwitchLevel } from '../shared/level.ts'
import type { Conviction } from './conviction.ts'
import type { Regime } from './regime.ts'

type Action = 'none' | 'long' | 'short' | 'hold' | 'exit'

/** Why the cycle proposes no trade. */
type HoldReason = 'neutral' | 'coverage' | 'kill_switch' | 'regime_crisis' | 'hold' | 'below_threshold'

export interface TradeDecision {
  readonly action: Action
  /** All reasons that apply. Empty exactly when an intent follows. */
  readonly reasons: readonly HoldReason[]
  /** Open positions that the action `exit` closes. */
  readonly exitPositionIds: readonly PositionId[]
}

/** An open position or a live intent. */
export type PositionOrIntent = HeldSide &
  /** `isOwn`: the brain opened it, and may close it. */
  (
    | { readonly kind: 'position'; readonly id: PositionId; readonly isOwn: boolean }
    | { readonly kind: 'intent'; readonly id: IntentId }
  )

interface HeldSide {
  readonly symbol: CanonicalSymbol
  readonly side: 'long' | 'short'
}

export interface TradeIntent {
  /** Symbol in the spelling of the universe. */
  readonly symbol: string
  readonly direction: 'long' | 'short'
  /** Maximum notional divided by equity. */
  readonly sizePct: number
  readonly leverage: number
  /** True for the largest tier, which needs an operator's approval where approvals are enabled. */
  readonly approvalRequired: boolean
  readonly effectiveConviction: number
  readonly regime: Regime
  readonly intendedPrice: Price | null
  readonly credits: readonly Credit[]
}

/** The sections of the configuration that a cycle reads. */
export interface DecisionRules extends Pick<Configuration, 'brain'> {
  readonly risk: Pick<Configuration['risk'], 'max_leverage' | 'max_position_pct'>
}

export const decisionOf = (
  conviction: Conviction,
  {
    killSwitchLevel,
    holdings,
  }: { readonly killSwitchLevel: KillSwitchLevel; readonly holdings: readonly PositionOrIntent[] },
  { brain }: DecisionRules,
): TradeDecision => {
  const { direction, domains, regime, effectiveConviction } = conviction
  const isStrong = effectiveConviction >= brain.tiers[0]
  const reasons = reasonsThat({
    neutral: direction === 'neutral',
    coverage: domains.length < brain.min_domains,
    kill_switch: killSwitchLevel >= 2,
    regime_crisis: regime === 'CRISIS',
    hold: holdings.length > 0,
    below_threshold: !isStrong,
  })
  if (reasons.length === 0 && direction !== 'neutral')
    return { action: direction, reasons, exitPositionIds: [] }
  const opposed = holdings.flatMap((holding) =>
    holding.kind === 'position' && holding.isOwn && holding.side !== direction ? [holding.id] : [],
  )
  // A cycle closes or opens, never both: a reversal takes two cycles.
  if (direction !== 'neutral' && isStrong && opposed.length > 0) {
    return { action: 'exit', reasons, exitPositionIds: opposed }
  }
  return { action: holdings.length > 0 ? 'hold' : 'none', reasons, exitPositionIds: [] }
}

/** The intent behind the action `long` or `short`. */
export const intentOf = (
  conviction: Conviction,
  direction: 'long' | 'short',
  mark: Price | null,
  { brain, risk }: DecisionRules,
): TradeIntent => {
  const { symbol, regime, effectiveConviction } = conviction
  return {
    symbol,
    direction,
    ...sizeFor(effectiveConviction, { brain, risk }),
    effectiveConviction,
    regime,
    intendedPrice: mark,
    credits: creditsOf(conviction),
  }
}

type Tier = Pick<TradeIntent, 'sizePct' | 'leverage' | 'approvalRequired'>

/** How large a trade of this conviction may be. */
export const sizeFor = (effectiveConviction: number, { brain, risk }: DecisionRules): Tier => {
  const tier = tierOf(effectiveConviction, brain.tiers)
  return {
    sizePct: Math.min(brain.tier_size_pct[tier], risk.max_position_pct),
    leverage: Math.min(brain.tier_leverage[tier], risk.max_leverage),
    approvalRequired: tier === LARGE,
  }
}

const SMALL = 0
const MEDIUM = 1
const LARGE = 2

const tierOf = (
  effectiveConviction: number,
  [, medium, large]: DecisionRules['brain']['tiers'],
): typeof SMALL | typeof MEDIUM | typeof LARGE => {
  if (effectiveConviction >= large) return LARGE
  return effectiveConviction >= medium ? MEDIUM : SMALL
}

const reasonsThat = (applies: Readonly<Record<HoldReason, boolean>>): readonly HoldReason[] =>
  (Object.keys(applies) as readonly HoldReason[]).filter((reason) => applies[reason])

/** Part of a signal in a trade. */
interface Credit {
  readonly signalId: SignalId
  /** Whole billionths. All credits of a trade add up to exactly one billion. */
  readonly weightBillionths: number
}

const BILLION = 1e9

/** Inputs on the side of the trade share the credit by contribution. The rounding residue goes to the largest. */
export const creditsOf = ({ inputs, side }: Pick<Conviction, 'inputs' | 'side'>): readonly Credit[] => {
  const supporters = inputs.filter(({ contribution }) => contribution * side > 0)
  const total = supporters.reduce((sum, { contribution }) => sum + Math.abs(contribution), 0)
  const credits = supporters.map(({ signalId, contribution }) => ({
    signalId,
    weightBillionths: Math.round((Math.abs(contribution) / total) * BILLION),
  }))
  const residue = BILLION - credits.reduce((sum, { weightBillionths }) => sum + weightBillionths, 0)
  const largest = credits.reduce((most, { weightBillionths }) => Math.max(most, weightBillionths), 0)
  const receiver = credits.findIndex(({ weightBillionths }) => weightBillionths === largest)
  return credits.map((credit, index) =>
    index === receiver ? { ...credit, weightBillionths: largest + residue } : credit,
  )
}
