import { treasuryView, viewTreasury } from '../../../core/views/karma.ts'
import { ok } from '../answers.ts'
import { KARMA_RECEIPT } from '../examples.ts'
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
    example: {
      enabled: true,
      percentage: 0.005,
      treasury_address: KARMA_RECEIPT.destination_wallet,
      pending_intents: 0,
      receipts: 1,
      pending_usd: 0,
      settled_usd: 0.3675,
    },
    handler: async (_parts, { engine, configuration }) =>
      ok(viewTreasury((await engine.fresh()).karma, configuration.current().karma)),
  }),
]
