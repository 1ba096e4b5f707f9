import { treasuryView, viewTreasury } from '../../../core/views/treasury.ts'
import { ok } from '../results.ts'
import { TREASURY } from '../examples.ts'
import { defineRoute } from '../route.ts'

export const treasuryRoutes = [
  defineRoute({
    method: 'GET',
    path: '/treasury',
    operationId: 'getTreasury',
    tag: 'Karma',
    summary: 'Accrued and settled shares of profit',
    response: treasuryView.meta({ id: 'Treasury' }),
    example: TREASURY,
    handler: async (_input, { engine, configuration }) =>
      ok(viewTreasury((await engine.fresh()).treasury, configuration.current().karma)),
  }),
]
