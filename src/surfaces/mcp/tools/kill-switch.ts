import { z } from 'zod'
import type { KillSwitchLevel } from '../../../core/shared/level.ts'
import { defineOperatorTool } from '../operator-tool.ts'

const setKillSwitch = defineOperatorTool({
  name: 'set_kill_switch',
  title: 'Raise or lower the kill switch',
  input: z.object({
    level: z
      .int()
      .min(0)
      .max(3)
      .meta({ description: '0 normal, 1 caution, 2 crisis (exits only), 3 lockdown' }),
    reason: z.string().trim().min(1).max(500).meta({ description: 'why, for the log' }),
  }),
  errors: [],
  command: ({ level, reason }, operator) => ({
    kind: 'set-kill-switch',
    move: { level: level as KillSwitchLevel, reason, operator, surface: 'api' },
  }),
})

export const killSwitchTools = { set_kill_switch: setKillSwitch }
