import { accrualId } from '../../../core/shared/brand.ts'
import { z } from 'zod'
import { SETTLED_AT_ONCE_MAX } from '../../../core/treasury/settle.ts'
import {
  shareAccrualView,
  receiptView,
  settlementView,
  treasuryView,
  viewPendingAccruals,
  viewSettlement,
  viewTreasury,
} from '../../../core/views/treasury.ts'
import { faultsOf } from '../../../core/shared/faults.ts'
import { karmaReceipts, settlementOf, settlementStatus } from '../../../engine/queries/treasury.ts'
import { resultOf, ok } from '../results.ts'
import { INTENT_ID, KARMA_INTENT, KARMA_RECEIPT, TREASURY } from '../examples.ts'
import { integer } from '../fields.ts'
import { invalidProblem } from '../problems.ts'
import { defineRoute } from '../route.ts'

const tag = 'Karma'
const receipt = receiptView.meta({ id: 'KarmaReceipt' })

const settlement = z.object({
  intent_ids: z.array(z.string().max(64)).max(SETTLED_AT_ONCE_MAX),
  tx_hash: z.string().min(1).max(256).nullable().optional(),
})

const migration = z
  .object({
    address: z.string().trim().min(1).max(128),
    percentage: z
      .number()
      .min(0)
      .max(1)
      .optional()
      .meta({ description: 'of the net profit; else as before' }),
    reason: z.string().trim().min(1).max(500),
  })
  .meta({ examples: [{ address: KARMA_RECEIPT.destination_wallet, reason: 'new hardware wallet' }] })

export const karmaRoutes = [
  defineRoute({
    method: 'GET',
    path: '/karma/intents',
    operationId: 'listKarmaIntents',
    tag,
    summary: 'Karma intents that wait to be settled, oldest first',
    response: z.object({ items: z.array(shareAccrualView.meta({ id: 'KarmaIntent' })) }),
    example: { items: [KARMA_INTENT] },
    handler: async (_input, { engine }) =>
      ok({ items: viewPendingAccruals((await engine.fresh()).treasury) }),
  }),
  defineRoute({
    method: 'GET',
    path: '/karma/receipts',
    operationId: 'listKarmaReceipts',
    tag,
    summary: 'Receipts of settlements, newest first',
    query: z.object({
      limit: integer(500, { min: 1, max: 500 }, 'items per page'),
      offset: integer(0, { min: 0 }, 'items to leave out'),
    }),
    response: z.object({ items: z.array(receipt) }),
    example: { items: [KARMA_RECEIPT] },
    handler: async ({ query }, { engine }) => ok({ items: await karmaReceipts(engine.log, query) }),
  }),
  defineRoute({
    method: 'POST',
    path: '/karma/settle',
    access: 'operator',
    operationId: 'settleKarma',
    tag,
    summary: 'Record a settlement of karma intents',
    description:
      'The service moves no money. Intents that cannot be settled are in `skipped`, with the reason.',
    // Its faults have a code of their own, so the handler validates the body.
    body: z.unknown().meta({
      ...z.toJSONSchema(settlement, { io: 'input' }),
      examples: [{ intent_ids: [INTENT_ID], tx_hash: null }],
    }),
    response: settlementView.extend({ receipt }),
    example: { receipt: KARMA_RECEIPT, skipped: [{ id: 'x', reason: 'unknown' }] },
    problems: ['karma.settlement_rejected'],
    handler: async ({ body, traceId }, { engine }) => {
      const parsed = settlement.safeParse(body)
      if (!parsed.success) {
        const faults = faultsOf(parsed.error, ['body'], { input: body })
        return { kind: 'refused', problem: invalidProblem(faults, 'karma.settlement_rejected') }
      }
      const { intent_ids: ids, tx_hash: txHash = null } = parsed.data
      const request = { intentIds: ids.map((id) => accrualId(id)), txHash }
      const status = await settlementStatus(engine.log, (await engine.fresh()).treasury, request)
      const outcome = await engine.execute({ kind: 'settle-shares', request, status }, { traceId })
      const settled =
        outcome.status === 'refused' ? null : await settlementOf(engine.log, engine.state.treasury, request)
      return resultOf(outcome, () => {
        if (settled === null) throw new Error('a settlement left no receipt')
        return viewSettlement(settled)
      })
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/karma/migrate-wallet',
    access: 'operator',
    operationId: 'migrateWallet',
    tag,
    summary: 'Change the wallet after it was locked',
    description:
      'After the first live receipt the address and the percentage are locked: the configuration no longer changes ' +
      'them, only this endpoint does, with a reason that is logged. The same wallet again writes nothing.',
    body: migration,
    response: treasuryView.meta({ id: 'Treasury' }),
    example: TREASURY,
    problems: ['karma.wallet_not_locked'],
    handler: async ({ body, traceId }, { engine, configuration }) => {
      const { address, percentage = null, reason } = body
      const command = {
        kind: 'migrate-wallet',
        migration: { address, percentage, reason, operator: engine.nodeId },
      } as const
      return resultOf(await engine.execute(command, { traceId }), () =>
        viewTreasury(engine.state.treasury, configuration.current().karma),
      )
    },
  }),
]
