import type { KnownEvent } from '../events/catalogue.ts'
import type { KillSwitchLevel } from '../shared/level.ts'

/** What the triggers of the kill switch are held against. */
export interface RiskFacts {
  readonly dayLoss: number
  readonly drawdown: number
  readonly heat: number
  readonly lossStreak: number
  readonly staleCycles: number
  readonly crisisVotes: number
  readonly fillDivergence: number
}

/** What the brain's cycles say of risk. Trading reads it from the brain's events, not from the brain. */
export interface CycleFacts {
  readonly staleCycles: number
  readonly crisisVotes: number
}

export const INITIAL_CYCLES: CycleFacts = { staleCycles: 0, crisisVotes: 0 }

export const evolveCycles = (cycles: CycleFacts, event: KnownEvent): CycleFacts => {
  switch (event.type) {
    case 'brain.regime_change.v1':
      return { ...cycles, crisisVotes: event.payload.evidence['crisis_votes'] ?? 0 }
    case 'brain.cycle.v1':
      return { ...cycles, staleCycles: event.payload.stale_cycles }
    case 'system.kill_switch.v1':
      // Lowering the level restarts the count.
      return event.payload.reset_by === undefined ? cycles : { ...cycles, staleCycles: 0 }
    default:
      return cycles
  }
}

export interface TriggerRules {
  readonly l1_daily_loss_pct: number
  readonly l1_fill_divergence_pct: number
  readonly l1_stale_cycles: number
  readonly l2_portfolio_heat_pct: number
  readonly l2_loss_streak: number
  readonly l3_crisis_threshold: number
  readonly l3_max_drawdown_pct: number
  readonly rearm_step: number
}

/** A condition that is true now. */
export interface Condition {
  readonly name: string
  readonly value: number
  readonly threshold: number
  readonly to: KillSwitchLevel
  /** How much worse it must get to fire again once an operator has acknowledged it. */
  readonly step: number
}

/** Highest level first. */
export const trueConditions = (facts: RiskFacts, rules: TriggerRules): readonly Condition[] => {
  const share = rules.rearm_step
  const checks: readonly (Condition & { readonly holds: boolean })[] = [
    {
      name: 'crisis_conditions',
      value: facts.crisisVotes,
      threshold: rules.l3_crisis_threshold,
      to: 3,
      step: 1,
      holds: facts.crisisVotes >= rules.l3_crisis_threshold,
    },
    {
      name: 'max_drawdown_pct',
      value: facts.drawdown,
      threshold: rules.l3_max_drawdown_pct,
      to: 3,
      step: share,
      holds: facts.drawdown >= rules.l3_max_drawdown_pct,
    },
    {
      name: 'portfolio_heat_pct',
      value: facts.heat,
      threshold: rules.l2_portfolio_heat_pct,
      to: 2,
      step: share,
      holds: facts.heat >= rules.l2_portfolio_heat_pct,
    },
    {
      name: 'loss_streak',
      value: facts.lossStreak,
      threshold: rules.l2_loss_streak,
      to: 2,
      step: 1,
      holds: rules.l2_loss_streak > 0 && facts.lossStreak >= rules.l2_loss_streak,
    },
    {
      name: 'daily_loss_pct',
      value: facts.dayLoss,
      threshold: rules.l1_daily_loss_pct,
      to: 1,
      step: share,
      holds: facts.dayLoss >= rules.l1_daily_loss_pct,
    },
    {
      name: 'stale_cycles',
      value: facts.staleCycles,
      threshold: rules.l1_stale_cycles,
      to: 1,
      step: 1,
      holds: facts.staleCycles >= rules.l1_stale_cycles,
    },
    {
      name: 'fill_divergence_pct',
      value: facts.fillDivergence,
      threshold: rules.l1_fill_divergence_pct,
      to: 1,
      step: share,
      holds: facts.fillDivergence > rules.l1_fill_divergence_pct,
    },
  ]
  return checks.filter(({ holds }) => holds)
}
