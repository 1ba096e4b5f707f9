import { treasuryView, viewTreasury } from '../../../core/views/treasury.ts'
import { ok } from '../answers.ts'
import { TREASURY } from '../examples.ts'
import { defineRoute } from '../route.ts'

export const treasuryRoutes = [
  defineRoute({
    method: 'GET',
    path: '/treasury',
    access: 'bearer',
    operationId: 'getTreasury',
    tag: 'Karma',
    summary: 'What is owed and what was settled',
    response: treasuryView.meta({ id: 'Treasury' }),
    example: TREASURY,
    handler: async (_parts, { engine, configuration }) =>
      ok(viewTreasury((await engine.fresh()).treasury, configuration.current().karma)),
  }),
]
