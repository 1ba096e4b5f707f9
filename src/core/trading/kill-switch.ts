import type { KnownEvent, NewEvent } from '../events/catalogue.ts'
import { accept, refuse, type Decision } from '../shared/decision.ts'
import { killSwitchLevel, LEVEL_STATES, type KillSwitchLevel } from '../shared/level.ts'

export interface KillSwitch {
  readonly level: KillSwitchLevel
  readonly reason: string | null
  readonly changedAt: string | null
  readonly changedBy: string | null
  /** Conditions that were true when an operator lowered the level, with their values then. */
  readonly acknowledged: Readonly<Record<string, number>>
}

export const INITIAL_KILL_SWITCH: KillSwitch = {
  level: 0,
  reason: null,
  changedAt: null,
  changedBy: null,
  acknowledged: {},
}

/** Who moves the switch by hand, and through which door. */
export interface OperatorMove {
  readonly level: KillSwitchLevel
  readonly reason: string
  readonly operator: string
  readonly surface: 'api' | 'cli'
}

export interface Cause {
  readonly reason: string
  readonly triggers: readonly { readonly name: string; readonly value: number; readonly threshold: number }[]
}

/** Values of the conditions that are true now. */
export type Acknowledged = Readonly<Record<string, number>>

/** An operator may choose any level. The current one again changes nothing. */
export const setKillSwitch = (
  current: KillSwitch,
  move: OperatorMove,
  acknowledged: Acknowledged = {},
): Decision => {
  if (move.level === current.level) return accept()
  return move.level > current.level
    ? accept(...raised(current, move))
    : accept(lowered(current, move, acknowledged))
}

/** Like `setKillSwitch`, but a reset that would raise the level is a mistake and is refused. */
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

/** A malformed kill-switch event is read as the worst case: nobody may gain freedom from damage. */
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

/** Counters that begin anew with a lowering have nothing left to acknowledge. */
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
