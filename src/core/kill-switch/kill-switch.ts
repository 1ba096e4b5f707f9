import type { KnownEvent, NewEvent } from '../events/catalogue.ts'
import { accept, refuse, type Decision } from '../vocabulary/decision.ts'
import { killSwitchLevel, LEVEL_STATES, type KillSwitchLevel } from '../vocabulary/level.ts'

export interface KillSwitch {
  readonly level: KillSwitchLevel
  readonly reason: string | null
  readonly changedAt: string | null
  readonly changedBy: string | null
}

export const INITIAL_KILL_SWITCH: KillSwitch = { level: 0, reason: null, changedAt: null, changedBy: null }

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

/** An operator may choose any level. The current one again changes nothing. */
export const setKillSwitch = (current: KillSwitch, move: OperatorMove): Decision => {
  if (move.level === current.level) return accept()
  return move.level > current.level ? accept(...raised(current, move)) : accept(lowered(current, move))
}

/** Like `setKillSwitch`, but a reset that would raise the level is a mistake and is refused. */
export const resetKillSwitch = (current: KillSwitch, move: OperatorMove): Decision => {
  if (move.level > current.level) {
    return refuse(
      'kill_switch.not_lower',
      `cannot reset to level ${move.level}: the kill switch is at level ${current.level}`,
      {
        level: current.level,
      },
    )
  }
  return setKillSwitch(current, move)
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
  if (event.type !== 'system.kill_switch.v1') return killSwitch
  const { payload } = event
  const level = killSwitchLevel.safeParse(payload.level)
  if (!level.success || typeof payload.reason !== 'string') {
    return { level: 3, reason: 'integrity_failed', changedAt: event.ts, changedBy: null }
  }
  return {
    level: level.data,
    reason: payload.reason,
    changedAt: event.ts,
    changedBy: payload.triggered_by ?? payload.reset_by ?? null,
  }
}

const raised = (
  current: KillSwitch,
  { level, reason, operator, surface }: OperatorMove,
): readonly NewEvent[] => {
  const payload = { level, prev_level: current.level, reason, triggered_by: operator, triggers: [] }
  return [{ type: 'system.kill_switch.v1', source: `${surface}.kill_switch`, payload }, alertOf(payload)]
}

const lowered = (current: KillSwitch, { level, reason, operator, surface }: OperatorMove): NewEvent => ({
  type: 'system.kill_switch.v1',
  source: `${surface}.kill_switch`,
  payload: { level, prev_level: current.level, reason, reset_by: operator, acknowledged: {} },
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
