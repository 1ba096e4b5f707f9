import { z } from 'zod'
import { karmaEvents } from '../events/treasury.ts'
import type { TreasuryState, SettlementReceipt } from '../treasury/evolve.ts'
import { walletInForce, type TreasuryRules } from '../treasury/wallet.ts'
import { usdNumber } from '../shared/money.ts'
import { oldestFirst } from './members.ts'

const withId = { id: z.string() }

// The id comes first: it is the first column of an export.
export const shareAccrualView = z.object({
  ...withId,
  ...karmaEvents['karma.intent.v1'].omit({ intent_id: true }).shape,
})

export type ShareAccrualView = z.infer<typeof shareAccrualView>

export const receiptView = z.object({
  ...withId,
  ...karmaEvents['karma.receipt.v1'].omit({ receipt_id: true }).shape,
})

export type ReceiptView = z.infer<typeof receiptView>

export const settlementView = z.object({
  receipt: receiptView,
  skipped: karmaEvents['karma.settlement.v1'].shape.skipped,
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

/** Pending accruals, oldest first. */
export const viewPendingAccruals = ({ pending }: Pick<TreasuryState, 'pending'>): ShareAccrualView[] =>
  [...pending.values()].map(({ intent_id: id, ...members }) => ({ id, ...members })).sort(byTime)

/** Newest first. */
export const viewReceipts = (receipts: Iterable<SettlementReceipt['receipt']>): ReceiptView[] =>
  [...receipts].map(viewReceipt).sort(byTime).reverse()

/** Answer to a settlement request. Repeated requests return the same. */
export const viewSettlement = ({ receipt, skipped }: SettlementReceipt): SettlementView => ({
  receipt: viewReceipt(receipt),
  skipped: [...skipped],
})

const viewReceipt = ({ receipt_id: id, ...members }: SettlementReceipt['receipt']): ReceiptView => ({
  id,
  ...members,
})

const byTime = oldestFirst(({ created_at }: ShareAccrualView | ReceiptView) => created_at)
