import { z } from 'zod'
import type { Command } from '../core/decide.ts'
import { intentId, orderId, positionId } from '../core/shared/brand.ts'
import type { KillSwitchLevel } from '../core/shared/level.ts'
import type { Operator } from '../core/trading/positions/exits.ts'
import { mayDo, type Caller } from './caller.ts'

/** Actions of operators: REST, MCP and the command line execute the same commands. */

export const reasonText = () => z.string().trim().min(1).max(500).meta({ description: 'why, for the log' })

export const killSwitchMove = z.object({
  level: z
    .int()
    .min(0)
    .max(3)
    .meta({ description: '0 normal, 1 caution, 2 crisis (exits only), 3 lockdown' }),
  reason: reasonText(),
  raise_only: z.boolean().optional().meta({
    description: 'whether a level below the current one changes nothing, instead of lowering it',
  }),
})

/** At most 500 alerts per request. A client acknowledges more in several requests. */
export const acknowledgement = z.object({
  alert_ids: z.array(z.string().min(1).max(128)).min(1).max(500).meta({ description: 'of open alerts' }),
})

export const acknowledgeAlerts = (alertIds: readonly string[], operator: string): Command => ({
  kind: 'acknowledge-alerts',
  acknowledgement: { alertIds, operator, surface: 'api' },
})

type Optional = string | undefined

type Surface = Operator['surface']

export const setKillSwitch = (
  { level, reason, raise_only: raiseOnly = false }: z.output<typeof killSwitchMove>,
  operator: string,
  caller: Caller,
): Command => ({
  kind: 'set-kill-switch',
  move: {
    level: level as KillSwitchLevel,
    reason,
    operator,
    surface: 'api',
    mayLower: mayDo(caller, 'operator'),
    raiseOnly,
  },
})

export const closePosition = (
  id: string,
  reason: Optional,
  operator: string,
  surface: Surface = 'api',
): Command => ({
  kind: 'close-position',
  positionId: positionId(id),
  by: operatorOf(operator, reason, surface),
})

export const closeAll = (reason: Optional, operator: string, surface: Surface = 'api'): Command => ({
  kind: 'close-all',
  by: operatorOf(operator, reason, surface),
})

const operatorOf = (operator: string, note: Optional, surface: Surface): Operator => ({
  operator,
  surface,
  ...(note === undefined ? {} : { note }),
})

export const cancelOrder = (
  id: string,
  reason: Optional,
  operator: string,
  surface: Surface = 'api',
): Command => ({
  kind: 'cancel-order',
  request: { orderId: orderId(id), operator, reason: reason ?? null, surface },
})

export const decideIntent = (
  kind: 'approve-intent' | 'deny-intent',
  id: string,
  note: Optional,
  operator: string,
  surface: Surface = 'api',
): Command => ({ kind, decision: { intentId: intentId(id), operator, note: note ?? null, surface } })
