import { z } from 'zod'
import { settleable } from '../../../core/karma/karma.ts'
import {
  karmaIntentView,
  karmaReceiptView,
  viewKarmaIntents,
  viewKarmaReceipts,
} from '../../../core/views/karma.ts'
import { assert } from '../../../core/vocabulary/assert.ts'
import { faultsOf } from '../../../core/vocabulary/faults.ts'
import type { Json } from '../../../core/vocabulary/json.ts'
import { ok, refused } from '../answers.ts'
import { INTENT_ID, KARMA_INTENT, KARMA_RECEIPT } from '../examples.ts'
import { invalidProblem } from '../problems.ts'
import { defineRoute } from '../route.ts'

const tag = 'Karma'
const receipt = karmaReceiptView.meta({ id: 'KarmaReceipt' })

const settlement = z.object({
  intent_ids: z.array(z.string()),
  tx_hash: z.string().min(1).max(256).nullable().optional(),
})

export const karmaRoutes = [
  defineRoute({
    method: 'GET',
    path: '/karma/intents',
    access: 'bearer',
    operationId: 'listKarmaIntents',
    tag,
    summary: 'Karma intents that wait to be settled, oldest first',
    response: z.object({ items: z.array(karmaIntentView.meta({ id: 'KarmaIntent' })) }),
    example: { items: [KARMA_INTENT] },
    handler: async (_parts, { engine }) => ok({ items: viewKarmaIntents((await engine.fresh()).karma) }),
  }),
  defineRoute({
    method: 'GET',
    path: '/karma/receipts',
    access: 'bearer',
    operationId: 'listKarmaReceipts',
    tag,
    summary: 'Receipts of settlements, newest first',
    response: z.object({ items: z.array(receipt) }),
    example: { items: [KARMA_RECEIPT] },
    handler: async (_parts, { engine }) => ok({ items: viewKarmaReceipts((await engine.fresh()).karma) }),
  }),
  defineRoute({
    method: 'POST',
    path: '/karma/settle',
    access: 'operator',
    operationId: 'settleKarma',
    tag,
    summary: 'Record a settlement of karma intents',
    description: 'The service moves no money. What cannot be settled is in `skipped`, with the reason.',
    // Its faults have a code of their own, so the body is looked at below.
    body: z.unknown().meta({
      ...z.toJSONSchema(settlement, { io: 'input' }),
      examples: [{ intent_ids: [INTENT_ID], tx_hash: null }],
    }),
    response: z.object({
      receipt,
      skipped: z.array(z.object({ id: z.string(), reason: z.enum(['unknown', 'already_settled']) })),
    }),
    example: { receipt: KARMA_RECEIPT, skipped: [{ id: 'x', reason: 'unknown' }] },
    problems: ['karma.settlement_rejected', 'store.busy'],
    handler: async ({ body }, { engine, configuration }) => {
      const parsed = settlement.safeParse(body)
      if (!parsed.success) {
        const faults = faultsOf(parsed.error, ['body'], { input: body })
        return { kind: 'refused', problem: invalidProblem(faults, 'karma.settlement_rejected') }
      }
      const { enabled, treasury_address: treasuryAddress } = configuration.current().karma
      const { karma } = await engine.fresh()
      const found = settleable(karma, parsed.data.intent_ids, { enabled, treasuryAddress })
      // No trade closes yet, so no intent is ever pending.
      assert(found.status === 'rejected', 'there is a karma intent, and nothing that settles it')
      return refused('karma.settlement_rejected', found.detail, {
        extras: { skipped: found.skipped as unknown as Json },
      })
    },
  }),
]
