import { z } from 'zod'
import { liveView, viewLive } from '../../../core/views/kill-switch.ts'
import { isoNow } from '../../../engine/iso-now.ts'
import { answerTo, ok } from '../answers.ts'
import { LIVE } from '../examples-trading.ts'
import { defineRoute } from '../route.ts'

const tag = 'Live trading'
const live = liveView.meta({ id: 'Live' })

export const liveRoutes = [
  defineRoute({
    method: 'GET',
    path: '/live',
    access: 'bearer',
    operationId: 'getLive',
    tag,
    summary: 'Whether real orders are sent, and what keeps them from it',
    response: live,
    example: LIVE,
    handler: async (_parts, { engine, configuration, clock }) =>
      ok(viewLive(await engine.fresh(), configuration.current(), isoNow(clock))),
  }),
  defineRoute({
    method: 'POST',
    path: '/live/resume',
    access: 'operator',
    operationId: 'resumeLive',
    tag,
    summary: 'Let entries go again after the venue held other positions than we do',
    description: 'Positions that the venue does not hold are let go at their last price.',
    body: z
      .object({ reason: z.string().trim().min(1).max(500).meta({ description: 'why, for the log' }) })
      .meta({ examples: [{ reason: 'bought by hand, closed' }] }),
    response: live,
    example: LIVE,
    problems: ['live.not_reduce_only', 'store.busy'],
    handler: async ({ body: { reason }, traceId }, { engine, configuration, clock }) => {
      const command = { kind: 'resume-live', operator: engine.nodeId, reason, surface: 'api' } as const
      return answerTo(await engine.execute(command, { traceId }), () =>
        viewLive(engine.state, configuration.current(), isoNow(clock)),
      )
    },
  }),
]
