import { z } from 'zod'
import { asKnown } from '../events/catalogue.ts'
import { evolveKillSwitch, type KillSwitch } from '../trading/kill-switch.ts'
import type { Stamped } from '../log/event.ts'
import { LEVEL_STATES } from '../shared/level.ts'

export const killSwitchView = z.object({
  level: z.int().min(0).max(3),
  state: z.enum(LEVEL_STATES),
  reason: z.string().nullable(),
  changed_at: z.string().nullable(),
  changed_by: z.string().nullable(),
})

export type KillSwitchView = z.infer<typeof killSwitchView>

export const viewKillSwitch = ({ level, reason, changedAt, changedBy }: KillSwitch): KillSwitchView => ({
  level,
  state: LEVEL_STATES[level],
  reason,
  changed_at: changedAt,
  changed_by: changedBy,
})

/** Where a command left the switch, whoever moved it since. */
export const viewKillSwitchAfter = (before: KillSwitch, events: readonly Stamped[]): KillSwitchView =>
  viewKillSwitch(
    events.reduce((killSwitch, event) => {
      const known = asKnown(event)
      return known === null ? killSwitch : evolveKillSwitch(killSwitch, known)
    }, before),
  )
