import { z } from 'zod'
import { killSwitchLevel } from '../shared/level.ts'
import { REGIMES } from './brain.ts'

const exitAlert = {
  urgency: z.literal('immediate'),
  message: z.string(),
  position_id: z.string(),
  symbol: z.string(),
  direction: z.enum(['long', 'short']),
  entry_price: z.number(),
  mark_price: z.number(),
  /** Null if the exit is blocked: then an operator has to act. */
  realized_pnl: z.number().nullable(),
  repeat: z.int(),
}

const weights = z.record(z.string(), z.number())

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
  /** Something about an order or a position at a venue that an operator has to look at. */
  'alert.execution': z.object({
    urgency: z.literal('immediate'),
    message: z.string(),
    cause: z.enum(['exit_failed', 'order_unknown', 'position_adopted', 'position_missing']),
    symbol: z.string(),
    order_id: z.string().nullable(),
    position_id: z.string().nullable(),
    repeat: z.int(),
  }),
  'alert.stop_triggered': z.object({ ...exitAlert, stop_loss: z.number().nullable() }),
  'alert.target_hit': z.object({ ...exitAlert, take_profit: z.number().nullable() }),
  'alert.weights_adjusted': z.object({
    urgency: z.literal('low'),
    message: z.string(),
    previous_weights: weights,
    new_weights: weights,
    deltas: weights,
    observations: z.int(),
    reason: z.string(),
    repeat: z.int(),
  }),
} as const
