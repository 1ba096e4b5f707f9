import { capabilitiesView } from '../../../core/views/capabilities.ts'
import { capabilitiesOf } from '../../../engine/queries/views.ts'
import { ok } from '../results.ts'
import { defineRoute } from '../route.ts'

export const capabilityRoutes = [
  defineRoute({
    method: 'GET',
    path: '/capabilities',
    operationId: 'getCapabilities',
    tag: 'Agents',
    summary: 'Tools, event domains and producers',
    response: capabilitiesView.meta({ id: 'Capabilities' }),
    example: {
      tools: [
        { name: 'get_open_positions', description: 'All positions that are not closed, newest first.' },
      ],
      event_domains: ['alert', 'brain', 'signal', 'system'],
      producers: [
        {
          producer_id: 'p1',
          signal_types: [{ name: 'signal.onchain.v1', schema: { type: 'object' } }],
          last_seen: null,
          health: 'unknown',
        },
      ],
    },
    handler: async (_input, { engine, clock }) => ok(await capabilitiesOf(engine, clock)),
  }),
]
