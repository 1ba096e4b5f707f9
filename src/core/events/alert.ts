import { z } from 'zod'
import { killSwitchLevel } from '../vocabulary/level.ts'
import { REGIMES } from './brain.ts'

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
  'alert.regime_shift': z.object({
    urgency: z.literal('standard'),
    message: z.string(),
    regime: z.enum(REGIMES),
    previous: z.enum(REGIMES),
    repeat: z.int(),
  }),
} as const
