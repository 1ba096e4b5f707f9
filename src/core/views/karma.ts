import { z } from 'zod'
import type { Configuration } from '../config/schema.ts'
import type { Karma, KarmaIntent, KarmaReceipt } from '../karma/karma.ts'

const mode = z.enum(['paper', 'live'])

export const karmaIntentView = z.object({
  id: z.string(),
  trade_id: z.string(),
  node_id: z.string(),
  realized_pnl_usd: z.number(),
  karma_percentage: z.number(),
  karma_amount_usd: z.number(),
  contributors: z.array(z.object({ contributor_id: z.string(), node_id: z.string(), share: z.number() })),
  mode,
  signature_b64: z.string(),
  created_at: z.string(),
})

export type KarmaIntentView = z.infer<typeof karmaIntentView>

export const karmaReceiptView = z.object({
  id: z.string(),
  intent_ids: z.array(z.string()),
  total_usd: z.number(),
  destination_wallet: z.string(),
  tx_hash: z.string().nullable(),
  status: z.enum(['pending', 'submitted', 'confirmed', 'failed']),
  mode,
  node_id: z.string(),
  signature_b64: z.string(),
  created_at: z.string(),
})

export type KarmaReceiptView = z.infer<typeof karmaReceiptView>

export const treasuryView = z.object({
  enabled: z.boolean(),
  percentage: z.number(),
  treasury_address: z.string(),
  pending_intents: z.int().min(0),
  receipts: z.int().min(0),
  pending_usd: z.number(),
  settled_usd: z.number(),
})

export type TreasuryView = z.infer<typeof treasuryView>

export const viewTreasury = (
  { pending, receipts }: Karma,
  { enabled, percentage, treasury_address }: Configuration['karma'],
): TreasuryView => ({
  enabled,
  percentage,
  treasury_address,
  pending_intents: pending.size,
  receipts: receipts.size,
  pending_usd: sumOf([...pending.values()].map(({ amountUsd }) => amountUsd)),
  settled_usd: sumOf([...receipts.values()].map(({ totalUsd }) => totalUsd)),
})

/** Pending ones, oldest first. */
export const viewKarmaIntents = ({ pending }: Karma): KarmaIntentView[] =>
  [...pending.values()].sort(oldestFirst).map(viewIntent)

/** Newest first. */
export const viewKarmaReceipts = ({ receipts }: Karma): KarmaReceiptView[] =>
  [...receipts.values()].sort(oldestFirst).reverse().map(viewReceipt)

const viewIntent = (intent: KarmaIntent): KarmaIntentView => ({
  id: intent.id,
  trade_id: intent.tradeId,
  node_id: intent.nodeId,
  realized_pnl_usd: intent.realizedPnlUsd,
  karma_percentage: intent.percentage,
  karma_amount_usd: intent.amountUsd,
  contributors: intent.contributors.map(({ contributorId, nodeId, share }) => ({
    contributor_id: contributorId,
    node_id: nodeId,
    share,
  })),
  mode: intent.mode,
  signature_b64: intent.signatureBase64,
  created_at: intent.createdAt,
})

const viewReceipt = (receipt: KarmaReceipt): KarmaReceiptView => ({
  id: receipt.id,
  intent_ids: [...receipt.intentIds],
  total_usd: receipt.totalUsd,
  destination_wallet: receipt.destinationWallet,
  tx_hash: receipt.txHash,
  status: receipt.status,
  mode: receipt.mode,
  node_id: receipt.nodeId,
  signature_b64: receipt.signatureBase64,
  created_at: receipt.createdAt,
})

const oldestFirst = (
  one: { readonly createdAt: string; readonly id: string },
  other: { readonly createdAt: string; readonly id: string },
): number => {
  if (one.createdAt !== other.createdAt) return one.createdAt < other.createdAt ? -1 : 1
  return one.id < other.id ? -1 : 1
}

/** Amounts have six decimals; summing doubles would add more. */
const sumOf = (amounts: readonly number[]): number =>
  Math.round(amounts.reduce((sum, amount) => sum + amount, 0) * 1e6) / 1e6
