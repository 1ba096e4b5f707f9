import { z } from 'zod'
import { liveView, viewLive } from '../../../core/views/kill-switch.ts'
import { isoNow } from '../../../engine/iso-now.ts'
import { resultOf, ok } from '../results.ts'
import { LIVE } from '../examples-trading.ts'
import { reasonText } from '../fields.ts'
import { defineRoute } from '../route.ts'

const tag = 'Live trading'
const live = liveView.meta({ id: 'Live' })

export const liveRoutes = [
  defineRoute({
    method: 'GET',
    path: '/live',
    operationId: 'getLive',
    tag,
    summary: 'Whether live orders are sent, and what blocks them',
    response: live,
    example: LIVE,
    handler: async (_input, { engine, configuration, clock }) =>
      ok(viewLive(await engine.fresh(), configuration.current(), isoNow(clock))),
  }),
  defineRoute({
    method: 'POST',
    path: '/live/resume',
    access: 'operator',
    operationId: 'resumeLive',
    tag,
    summary: 'Allow entries again after positions at the venue did not match',
    description:
      'Ends reduce-only mode. Positions that the venue does not hold are closed here at their last price.',
    body: z.object({ reason: reasonText() }).meta({ examples: [{ reason: 'bought by hand, closed' }] }),
    response: live,
    example: LIVE,
    problems: ['live.not_reduce_only'],
    handler: async ({ body: { reason }, traceId }, { engine, configuration, clock }) => {
      const command = { kind: 'resume-live', operator: engine.nodeId, reason, surface: 'api' } as const
      return resultOf(await engine.execute(command, { traceId }), () =>
        viewLive(engine.state, configuration.current(), isoNow(clock)),
      )
    },
  }),
]
