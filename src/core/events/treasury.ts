import { z } from 'zod'
import {
  branded,
  type AccrualId,
  type ContributorId,
  type NodeId,
  type PositionId,
  type ReceiptId,
  type Timestamp,
} from '../shared/brand.ts'

const mode = z.enum(['paper', 'live'])

export const karmaEvents = {
  /**
   * Share of a profitable close that becomes payable, and its recipient. Signed in the form that the interface shows,
   * with `id` for `intent_id`.
   */
  'karma.intent.v1': z.object({
    intent_id: branded<AccrualId>(),
    trade_id: branded<PositionId>(),
    node_id: branded<NodeId>(),
    realized_pnl_usd: z.number(),
    karma_percentage: z.number(),
    karma_amount_usd: z.number(),
    contributors: z.array(
      z.object({ contributor_id: branded<ContributorId>(), node_id: branded<NodeId>(), share: z.number() }),
    ),
    mode,
    signature_b64: z.string(),
    created_at: branded<Timestamp>(),
  }),
  'karma.settlement.v1': z.object({
    receipt_id: branded<ReceiptId>(),
    requested_ids: z.array(branded<AccrualId>()),
    intent_ids: z.array(branded<AccrualId>()),
    skipped: z.array(z.object({ id: branded<AccrualId>(), reason: z.enum(['unknown', 'already_settled']) })),
    total_usd: z.number(),
    tx_hash: z.string().nullable(),
    mode,
    /** Wallet and percentage that the first live settlement locks. */
    destination_wallet: z.string(),
    karma_percentage: z.number(),
  }),
  /** Signed in the form that the interface shows, with `id` for `receipt_id`. */
  'karma.receipt.v1': z.object({
    receipt_id: branded<ReceiptId>(),
    intent_ids: z.array(branded<AccrualId>()),
    total_usd: z.number(),
    destination_wallet: z.string(),
    tx_hash: z.string().nullable(),
    status: z.enum(['pending', 'submitted', 'confirmed', 'failed']),
    mode,
    node_id: branded<NodeId>(),
    signature_b64: z.string(),
    created_at: branded<Timestamp>(),
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
