import { z } from 'zod'
import { killSwitchLevel } from '../vocabulary/level.ts'

export const alertEvents = {
  'alert.kill_switch': z.object({
    urgency: z.literal('immediate'),
    message: z.string(),
    level: killSwitchLevel,
    prev_level: killSwitchLevel,
    reason: z.string(),
    triggered_by: z.string(),
    repeat: z.int(),
  }),
} as const
