import type { Configuration } from '../../config/schema.ts'
import type { Timestamp } from '../../shared/brand.ts'
import type { KnownEvent, NewEvent } from '../../events/catalogue.ts'
import { type Decision, accept, refuse } from '../../shared/decision.ts'
import { type KillSwitchLevel, LEVEL_STATES, killSwitchLevel } from '../../shared/level.ts'
import { r9 } from '../../shared/numbers.ts'

export interface KillSwitch {
  readonly level: KillSwitchLevel
  readonly reason: string | null
  readonly changedAt: Timestamp | null
  readonly changedBy: string | null
  /** Conditions that were true when an operator lowered the level, with their values at that time. */
  readonly acknowledged: Readonly<Record<string, number>>
}

export const INITIAL_KILL_SWITCH: KillSwitch = {
  level: 0,
  reason: null,
  changedAt: null,
  changedBy: null,
  acknowledged: {},
}

/** A manual change of the kill switch, its operator, and its surface. */
export interface OperatorMove {
  readonly level: KillSwitchLevel
  readonly reason: string
  readonly operator: string
  readonly surface: 'api' | 'cli'
  /** False for callers other than operators, who may only raise the level. */
  readonly mayLower?: boolean
  /** True for a raise by a caller who may know an outdated level. It never lowers the level. */
  readonly raiseOnly?: boolean
}

export interface Cause {
  readonly reason: string
  readonly triggers: readonly { readonly name: string; readonly value: number; readonly threshold: number }[]
}

/** Conditions that were true when the level was lowered, with their values then. */
export type Acknowledged = Readonly<Record<string, number>>

/** An operator may choose any level. Choosing the current one, or a raise to a lower level, changes nothing. */
export const setKillSwitch = (
  current: KillSwitch,
  move: OperatorMove,
  acknowledged: Acknowledged = {},
): Decision => {
  if (move.level === current.level) return accept()
  if (move.level < current.level && move.raiseOnly === true) return accept()
  if (move.level < current.level && move.mayLower === false)
    return refuse('auth.forbidden', 'Only an operator lowers the kill switch', { level: current.level })
  return move.level > current.level
    ? accept(...raised(current, move))
    : accept(lowered(current, move, acknowledged))
}

/** Like `setKillSwitch`, but refuses a reset that would raise the level, which is a mistake. */
export const resetKillSwitch = (
  current: KillSwitch,
  move: OperatorMove,
  acknowledged: Acknowledged = {},
): Decision => {
  if (move.level > current.level) {
    return refuse(
      'kill_switch.not_lower',
      `cannot reset to level ${move.level}: the kill switch is at level ${current.level}`,
      {
        level: current.level,
      },
    )
  }
  return setKillSwitch(current, move, acknowledged)
}

/** Escalates only: a cause that does not raise the level changes nothing. */
export const escalate = (current: KillSwitch, to: KillSwitchLevel, { reason, triggers }: Cause): Decision => {
  if (to <= current.level) return accept()
  const payload = {
    level: to,
    prev_level: current.level,
    reason,
    triggered_by: 'risk_monitor',
    triggers: [...triggers],
  }
  return accept({ type: 'system.kill_switch.v1', source: 'brain.kill_switch', payload }, alertOf(payload))
}

/** A malformed kill-switch event folds to the highest level: damage must never unlock trading. */
export const evolveKillSwitch = (killSwitch: KillSwitch, event: KnownEvent): KillSwitch => {
  if (event.type === 'system.kill_switch_rearmed.v1') return rearmed(killSwitch, event.payload.conditions)
  if (event.type !== 'system.kill_switch.v1') return killSwitch
  const { payload } = event
  const level = killSwitchLevel.safeParse(payload.level)
  if (!level.success || typeof payload.reason !== 'string') {
    return {
      level: 3,
      reason: 'integrity_failed',
      changedAt: event.ts,
      changedBy: null,
      acknowledged: killSwitch.acknowledged,
    }
  }
  return {
    level: level.data,
    reason: payload.reason,
    changedAt: event.ts,
    changedBy: payload.triggered_by ?? payload.reset_by ?? null,
    acknowledged:
      payload.acknowledged === undefined ? killSwitch.acknowledged : lasting(payload.acknowledged),
  }
}

/** Counters that restart when the level is lowered and so need no acknowledgement. */
const RESTARTED: ReadonlySet<string> = new Set(['loss_streak', 'stale_cycles'])

const lasting = (acknowledged: Acknowledged): Acknowledged =>
  Object.fromEntries(Object.entries(acknowledged).filter(([name]) => !RESTARTED.has(name)))

const rearmed = (killSwitch: KillSwitch, conditions: readonly string[]): KillSwitch => ({
  ...killSwitch,
  acknowledged: Object.fromEntries(
    Object.entries(killSwitch.acknowledged).filter(([name]) => !conditions.includes(name)),
  ),
})

const raised = (
  current: KillSwitch,
  { level, reason, operator, surface }: OperatorMove,
): readonly NewEvent[] => {
  const payload = { level, prev_level: current.level, reason, triggered_by: operator, triggers: [] }
  return [{ type: 'system.kill_switch.v1', source: `${surface}.kill_switch`, payload }, alertOf(payload)]
}

const lowered = (
  current: KillSwitch,
  { level, reason, operator, surface }: OperatorMove,
  acknowledged: Acknowledged,
): NewEvent => ({
  type: 'system.kill_switch.v1',
  source: `${surface}.kill_switch`,
  payload: {
    level,
    prev_level: current.level,
    reason,
    reset_by: operator,
    acknowledged: { ...acknowledged },
  },
})

const alertOf = (raise: {
  readonly level: KillSwitchLevel
  readonly prev_level: KillSwitchLevel
  readonly reason: string
  readonly triggered_by: string
}): NewEvent => ({
  type: 'alert.kill_switch',
  source: 'alerts',
  payload: {
    urgency: 'immediate',
    message: `Kill switch raised to ${LEVEL_STATES[raise.level]} (level ${raise.level}): ${raise.reason}`,
    level: raise.level,
    prev_level: raise.prev_level,
    reason: raise.reason,
    triggered_by: raise.triggered_by,
    repeat: 0,
  },
})

/** A condition that is true now, and the level that it requires. */
export interface Condition {
  readonly name: string
  readonly value: number
  readonly threshold: number
  readonly to: KillSwitchLevel
  /** Worsening that is needed to trigger again after an operator has acknowledged the condition. */
  readonly step: number
}

/** Raises the level, with one event that lists all triggered conditions. No event if the level would not rise. */
export const assessRisk = (current: KillSwitch, conditions: readonly Condition[]): Decision => {
  const acknowledged = Object.keys(current.acknowledged)
  if (conditions.length === 0 && acknowledged.length === 0) return accept()
  const over = acknowledged.filter((name) => !conditions.some((condition) => condition.name === name))
  const rearmings: readonly NewEvent[] =
    over.length === 0
      ? []
      : [
          {
            type: 'system.kill_switch_rearmed.v1',
            source: 'brain.kill_switch',
            payload: { conditions: over },
          },
        ]
  const firing = conditions.filter((condition) => isNews(condition, current.acknowledged[condition.name]))
  const to = firing.reduce<KillSwitchLevel>((highest, condition) => higher(highest, condition.to), 0)
  const escalation = escalate(current, to, {
    reason: firing.map(({ name, value }) => `${name}=${r9(value)}`).join(', '),
    triggers: firing.map(({ name, value, threshold }) => ({ name, value: r9(value), threshold })),
  })
  return escalation.status === 'refused' ? escalation : accept(...rearmings, ...escalation.events)
}

/** The conditions that an operator acknowledges by lowering the level, with their values. */
export const acknowledgedBy = (conditions: readonly Condition[]): Record<string, number> =>
  Object.fromEntries(conditions.map(({ name, value }) => [name, r9(value)]))

const isNews = ({ value, step }: Condition, acknowledged: number | undefined): boolean =>
  acknowledged === undefined || r9(value - acknowledged) >= step

const higher = (one: KillSwitchLevel, other: KillSwitchLevel): KillSwitchLevel => (one > other ? one : other)

/** Figures that are compared with the triggers of the kill switch. */
export interface RiskFacts {
  readonly dayLoss: number
  readonly drawdown: number
  readonly heat: number
  readonly lossStreak: number
  readonly staleCycles: number
  readonly crisisVotes: number
  readonly fillDivergence: number
  /** True without open positions, when a drawdown cannot recover by itself. */
  readonly isFlat: boolean
}

/** Risk figures from the brain's cycles. Trading reads them from the brain's events, not from its state. */
export interface CycleFacts {
  readonly staleCycles: number
  readonly crisisVotes: number
}

export const INITIAL_CYCLES: CycleFacts = { staleCycles: 0, crisisVotes: 0 }

export const evolveCycles = (cycles: CycleFacts, event: KnownEvent): CycleFacts => {
  switch (event.type) {
    case 'brain.regime_change.v1':
      return { ...cycles, crisisVotes: event.payload.evidence['crisis_votes'] ?? 0 }
    case 'brain.cycle.v1': {
      const { stale_cycles: staleCycles } = event.payload
      return staleCycles === cycles.staleCycles ? cycles : { ...cycles, staleCycles }
    }
    case 'system.kill_switch.v1':
      // Lowering the level restarts the count.
      return event.payload.reset_by === undefined ? cycles : { ...cycles, staleCycles: 0 }
    default:
      return cycles
  }
}

/** Conditions that are true, highest level first. */
export const trueConditions = (
  facts: RiskFacts,
  rules: Configuration['kill_switch'],
  { max_drawdown_pct: entryLimit }: Pick<Configuration['risk'], 'max_drawdown_pct'>,
): readonly Condition[] => {
  const share = rules.rearm_step
  const conditions: Condition[] = []
  // Built on demand: this runs for every bar, and usually no condition is true.
  const add = (name: string, value: number, threshold: number, to: KillSwitchLevel, step: number): void => {
    conditions.push({ name, value, threshold, to, step })
  }
  if (facts.crisisVotes >= rules.l3_crisis_threshold)
    add('crisis_conditions', facts.crisisVotes, rules.l3_crisis_threshold, 3, 1)
  if (facts.drawdown >= rules.l3_max_drawdown_pct)
    add('max_drawdown_pct', facts.drawdown, rules.l3_max_drawdown_pct, 3, share)
  // From this drawdown on all entries are refused, which must be reported.
  if (facts.isFlat && facts.drawdown > 0 && facts.drawdown >= entryLimit)
    add('drawdown_limit', facts.drawdown, entryLimit, 2, share)
  if (facts.heat >= rules.l2_portfolio_heat_pct)
    add('portfolio_heat_pct', facts.heat, rules.l2_portfolio_heat_pct, 2, share)
  if (rules.l2_loss_streak > 0 && facts.lossStreak >= rules.l2_loss_streak)
    add('loss_streak', facts.lossStreak, rules.l2_loss_streak, 2, 1)
  if (facts.dayLoss >= rules.l1_daily_loss_pct)
    add('daily_loss_pct', facts.dayLoss, rules.l1_daily_loss_pct, 1, share)
  if (facts.staleCycles >= rules.l1_stale_cycles)
    add('stale_cycles', facts.staleCycles, rules.l1_stale_cycles, 1, 1)
  if (facts.fillDivergence > rules.l1_fill_divergence_pct)
    add('fill_divergence_pct', facts.fillDivergence, rules.l1_fill_divergence_pct, 1, share)
  return conditions
}
