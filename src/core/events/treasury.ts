import { z } from 'zod'

const mode = z.enum(['paper', 'live'])

export const karmaEvents = {
  /** What a profitable close owes, and to whom. Signed as the interface shows it: with `id` for `intent_id`. */
  'karma.intent.v1': z.object({
    intent_id: z.string(),
    trade_id: z.string(),
    node_id: z.string(),
    realized_pnl_usd: z.number(),
    karma_percentage: z.number(),
    karma_amount_usd: z.number(),
    contributors: z.array(z.object({ contributor_id: z.string(), node_id: z.string(), share: z.number() })),
    mode,
    signature_b64: z.string(),
    created_at: z.string(),
  }),
  'karma.settlement.v1': z.object({
    receipt_id: z.string(),
    requested_ids: z.array(z.string()),
    intent_ids: z.array(z.string()),
    skipped: z.array(z.object({ id: z.string(), reason: z.enum(['unknown', 'already_settled']) })),
    total_usd: z.number(),
    tx_hash: z.string().nullable(),
    mode,
    /** What is locked by the first live settlement. */
    destination_wallet: z.string(),
    karma_percentage: z.number(),
  }),
  /** Signed as the interface shows it: with `id` for `receipt_id`. */
  'karma.receipt.v1': z.object({
    receipt_id: z.string(),
    intent_ids: z.array(z.string()),
    total_usd: z.number(),
    destination_wallet: z.string(),
    tx_hash: z.string().nullable(),
    status: z.enum(['pending', 'submitted', 'confirmed', 'failed']),
    mode,
    node_id: z.string(),
    signature_b64: z.string(),
    created_at: z.string(),
  }),
  /** The only way to change a locked wallet. */
  'karma.wallet_migration.v1': z.object({
    old_address: z.string(),
    new_address: z.string(),
    old_percentage: z.number(),
    new_percentage: z.number(),
    reason: z.string(),
    authorized_by: z.string(),
  }),
} as const
