import { z } from 'zod'
import type { TreasuryState, ShareAccrual, SettlementReceipt } from '../treasury/evolve.ts'
import { walletInForce, type TreasuryRules } from '../treasury/wallet.ts'
import { usdNumber } from '../shared/money.ts'

const mode = z.enum(['paper', 'live'])

export const shareAccrualView = z.object({
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

export type ShareAccrualView = z.infer<typeof shareAccrualView>

export const receiptView = z.object({
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

export type ReceiptView = z.infer<typeof receiptView>

export const settlementView = z.object({
  receipt: receiptView,
  skipped: z.array(z.object({ id: z.string(), reason: z.enum(['unknown', 'already_settled']) })),
})

export type SettlementView = z.infer<typeof settlementView>

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
  karma: Pick<TreasuryState, 'pending' | 'pendingUsd' | 'receiptCount' | 'settledUsd' | 'lockedWallet'>,
  rules: TreasuryRules,
): TreasuryView => {
  const { address, percentage } = walletInForce(karma, rules)
  return {
    enabled: rules.enabled,
    percentage,
    treasury_address: address,
    pending_intents: karma.pending.size,
    receipts: karma.receiptCount,
    pending_usd: usdNumber(karma.pendingUsd),
    settled_usd: usdNumber(karma.settledUsd),
  }
}

/** Pending ones, oldest first. */
export const viewPendingAccruals = ({ pending }: Pick<TreasuryState, 'pending'>): ShareAccrualView[] =>
  [...pending.values()].map(viewIntent).sort(oldestFirst)

/** Newest first. */
export const viewReceipts = (receipts: Iterable<SettlementReceipt['receipt']>): ReceiptView[] =>
  [...receipts].map(viewReceipt).sort(oldestFirst).reverse()

/** What a settlement answers, the first time and every time after. */
export const viewSettlement = ({ receipt, skipped }: SettlementReceipt): SettlementView => ({
  receipt: viewReceipt(receipt),
  skipped: [...skipped],
})

const viewIntent = ({ intent_id: id, ...members }: ShareAccrual): ShareAccrualView => ({ id, ...members })

const viewReceipt = ({ receipt_id: id, ...members }: SettlementReceipt['receipt']): ReceiptView => ({
  id,
  ...members,
})

interface Dated {
  readonly created_at: string
  readonly id: string
}

const oldestFirst = (one: Dated, other: Dated): number => {
  if (one.created_at !== other.created_at) return one.created_at < other.created_at ? -1 : 1
  return one.id < other.id ? -1 : 1
}
