import { capabilitiesView } from '../../../core/views/capabilities.ts'
import { capabilitiesOf } from '../../../engine/queries/capabilities.ts'
import { ok } from '../answers.ts'
import { defineRoute } from '../route.ts'

export const capabilityRoutes = [
  defineRoute({
    method: 'GET',
    path: '/capabilities',
    access: 'bearer',
    operationId: 'getCapabilities',
    tag: 'Agents',
    summary: 'Tools, event domains and producers',
    response: capabilitiesView.meta({ id: 'Capabilities' }),
    handler: async (_parts, { engine, clock }) => ok(await capabilitiesOf(engine, clock)),
  }),
]
