import { z } from 'zod'
import { killSwitchView, viewKillSwitch, viewKillSwitchAfter } from '../../../core/views/kill-switch.ts'
import type { KillSwitchLevel } from '../../../core/shared/level.ts'
import { resultOf, ok } from '../results.ts'
import { KILL_SWITCH } from '../examples.ts'
import { defineRoute } from '../route.ts'

const response = killSwitchView.meta({ id: 'KillSwitch' })

const move = z
  .object({
    level: z
      .int()
      .min(0)
      .max(3)
      .meta({ description: '0 normal, 1 caution, 2 crisis (exits only), 3 lockdown' }),
    reason: z.string().trim().min(1).max(500),
  })
  .meta({ examples: [{ level: 2, reason: 'exchange reports delayed fills' }] })

export const killSwitchRoutes = [
  defineRoute({
    method: 'GET',
    path: '/kill-switch',
    operationId: 'getKillSwitch',
    tag: 'Kill switch',
    summary: 'Level of the kill switch',
    response,
    example: { level: 0, state: 'normal', reason: null, changed_at: null, changed_by: null },
    handler: async (_input, { engine }) => ok(viewKillSwitch((await engine.fresh()).trading.killSwitch)),
  }),
  defineRoute({
    method: 'POST',
    path: '/kill-switch',
    access: 'operator',
    operationId: 'setKillSwitch',
    tag: 'Kill switch',
    summary: 'Raise or lower the kill switch',
    description: 'Any level may be chosen. The current level again writes nothing.',
    isUrgent: true,
    body: move,
    response,
    example: KILL_SWITCH,
    handler: async ({ body: { level, reason }, traceId }, { engine }) => {
      const command = {
        kind: 'set-kill-switch',
        move: { level: level as KillSwitchLevel, reason, operator: engine.nodeId, surface: 'api' },
      } as const
      return resultOf(await engine.execute(command, { traceId }), (events) =>
        viewKillSwitchAfter(engine.state.trading.killSwitch, events),
      )
    },
  }),
]
