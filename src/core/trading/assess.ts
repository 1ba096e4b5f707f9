import type { NewEvent } from '../events/catalogue.ts'
import { accept, type Decision } from '../shared/decision.ts'
import type { KillSwitchLevel } from '../shared/level.ts'
import { r9 } from '../shared/numbers.ts'
import { escalate, type KillSwitch } from './kill-switch.ts'

/** A condition that is true now, and the level it asks for. */
export interface FiringCondition {
  readonly name: string
  readonly value: number
  readonly threshold: number
  readonly to: KillSwitchLevel
  /** How much worse it must get to fire again once an operator has acknowledged it. */
  readonly step: number
}

/** One event with all that fires, and only if it raises the level. */
export const assessRisk = (current: KillSwitch, conditions: readonly FiringCondition[]): Decision => {
  const over = Object.keys(current.acknowledged).filter(
    (name) => !conditions.some((condition) => condition.name === name),
  )
  const rearmed: readonly NewEvent[] =
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
  const raised = escalate(current, to, {
    reason: firing.map(({ name, value }) => `${name}=${r9(value)}`).join(', '),
    triggers: firing.map(({ name, value, threshold }) => ({ name, value: r9(value), threshold })),
  })
  return raised.status === 'refused' ? raised : accept(...rearmed, ...raised.events)
}

/** What an operator acknowledges by lowering the level. */
export const acknowledgedBy = (conditions: readonly FiringCondition[]): Record<string, number> =>
  Object.fromEntries(conditions.map(({ name, value }) => [name, r9(value)]))

const isNews = ({ value, step }: FiringCondition, acknowledged: number | undefined): boolean =>
  acknowledged === undefined || r9(value - acknowledged) >= step

const higher = (one: KillSwitchLevel, other: KillSwitchLevel): KillSwitchLevel => (one > other ? one : other)
