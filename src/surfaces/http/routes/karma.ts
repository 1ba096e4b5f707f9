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
import { assert } from '../../../core/shared/assert.ts'
import { faultsOf } from '../../../core/shared/faults.ts'
import { karmaReceipts, settlementOf, settlementStatus } from '../../../engine/queries/treasury.ts'
import { aboutPast, asOfMember } from '../as-of.ts'
import { CONTRIBUTOR_ID, INTENT_ID, NODE_ID, POSITION_ID, TS } from '../examples.ts'
import { ok, refusedWith } from '../results.ts'
import { integer } from '../fields.ts'
import { invalidProblem } from '../problems.ts'
import { route, routes } from '../route.ts'

const KARMA_INTENT = {
  id: INTENT_ID,
  trade_id: POSITION_ID,
  node_id: NODE_ID,
  realized_pnl_usd: 73.5,
  karma_percentage: 0.005,
  karma_amount_usd: 0.3675,
  contributors: [{ contributor_id: CONTRIBUTOR_ID, node_id: 'n1', share: 1 }],
  mode: 'paper',
  signature_b64: '2xyAYGdzTvgeqEKG5bIUtAKXr4mRppsZMiQIh5LlzalZDIg3W/LEwWtnLrq+MEgcgF+MNotdl2mtorv+nLnqAA==',
  created_at: TS,
} as const

const KARMA_RECEIPT = {
  id: 'acf25989-4a62-8c6e-85e4-9409367e8155',
  intent_ids: [INTENT_ID],
  total_usd: 0.3675,
  destination_wallet: '0x52908400098527886E0F7030069857D2E4169EE7',
  tx_hash: null,
  status: 'pending',
  mode: 'paper',
  node_id: NODE_ID,
  signature_b64: '2xyAYGdzTvgeqEKG5bIUtAKXr4mRppsZMiQIh5LlzalZDIg3W/LEwWtnLrq+MEgcgF+MNotdl2mtorv+nLnqAA==',
  created_at: TS,
} as const

const TREASURY = {
  enabled: true,
  percentage: 0.005,
  treasury_address: KARMA_RECEIPT.destination_wallet,
  pending_intents: 0,
  receipts: 1,
  pending_usd: 0,
  settled_usd: 0.3675,
} as const

const receipt = receiptView.meta({ id: 'KarmaReceipt' })
const treasury = treasuryView.extend(asOfMember).meta({ id: 'Treasury' })

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

export const karmaRoutes = routes('Karma', {
  listKarmaIntents: route('GET', '/karma/intents', 'read', {
    summary: 'Karma intents that wait to be settled, oldest first',
    response: z.object({ items: z.array(shareAccrualView.meta({ id: 'KarmaIntent' })) }),
    example: { items: [KARMA_INTENT] },
    handler: async (_input, { engine }) =>
      ok({ items: viewPendingAccruals((await engine.fresh()).treasury) }),
  }),
  listKarmaReceipts: route('GET', '/karma/receipts', 'read', {
    summary: 'Receipts of settlements, newest first',
    query: z.object({
      limit: integer(500, { min: 1, max: 500 }, 'items per page'),
      offset: integer(0, { min: 0 }, 'items to leave out'),
    }),
    response: z.object({ items: z.array(receipt) }),
    example: { items: [KARMA_RECEIPT] },
    handler: async ({ query }, { engine }) => ok({ items: await karmaReceipts(engine.log, query) }),
  }),
  settleKarma: route('POST', '/karma/settle', 'operator', {
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
    handler: async ({ body, execute }, { engine }) => {
      const parsed = settlement.safeParse(body)
      if (!parsed.success) {
        const faults = faultsOf(parsed.error, ['body'], { input: body })
        return refusedWith(invalidProblem(faults, 'karma.settlement_rejected'))
      }
      const { intent_ids: ids, tx_hash: txHash = null } = parsed.data
      const request = { intentIds: ids.map((id) => accrualId(id)), txHash }
      const status = await settlementStatus(engine.log, (await engine.fresh()).treasury, request)
      return execute({ kind: 'settle-shares', request, status }, async () => {
        const settled = await settlementOf(engine.log, engine.state.treasury, request)
        assert(settled !== null, 'a settlement must leave a receipt')
        return viewSettlement(settled)
      })
    },
  }),
  migrateWallet: route('POST', '/karma/migrate-wallet', 'operator', {
    summary: 'Change the wallet after it was locked',
    description:
      'After the first live receipt the address and the percentage are locked: the configuration no longer changes ' +
      'them, only this endpoint does, with a reason that is logged. The same wallet again writes nothing.',
    body: migration,
    response: treasury,
    example: TREASURY,
    problems: ['karma.wallet_not_locked'],
    handler: ({ body: { address, percentage = null, reason }, execute }, { engine, configuration }) => {
      const migrated = { address, percentage, reason, operator: engine.nodeId }
      return execute({ kind: 'migrate-wallet', migration: migrated }, () =>
        viewTreasury(engine.state.treasury, configuration.current().karma),
      )
    },
  }),
  getTreasury: route('GET', '/treasury', 'read', {
    summary: 'Accrued and settled shares of profit',
    response: treasury,
    example: TREASURY,
    ...aboutPast({
      answer: async ({ reader, configuration }) =>
        ok(viewTreasury((await reader.fresh()).treasury, configuration.karma)),
    }),
  }),
})
