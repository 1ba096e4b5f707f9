import type { AccrualId, ReceiptId } from '../shared/brand.ts'
import { assertFold } from '../shared/assert.ts'
import { Map as PersistentMap } from 'immutable'
import type { KnownEvent, PayloadOf } from '../events/catalogue.ts'
import { minus, NO_USD, plus, sumOf, usdFrom, type Usd } from '../shared/money.ts'
import type { BrainState } from '../brain/evolve.ts'
import type { Wallet } from './wallet.ts'

export type ShareAccrual = PayloadOf<'karma.intent.v1'>

export interface SettlementReceipt {
  readonly receipt: PayloadOf<'karma.receipt.v1'>
  /** Requested ids that were not settled, as in the first answer. */
  readonly skipped: readonly Skipped[]
}

export interface Skipped {
  readonly id: AccrualId
  readonly reason: 'unknown' | 'already_settled'
}

/** Accrued shares and their settlements. */
export interface TreasuryState {
  /** Shares that are accrued and not settled yet, by id. */
  readonly pending: PersistentMap<AccrualId, ShareAccrual>
  readonly pendingUsd: Usd
  /** The newest receipts, by id. The log has all of them. */
  readonly receipts: PersistentMap<ReceiptId, SettlementReceipt>
  /** Ids of `receipts`, oldest first. */
  readonly receiptIds: readonly ReceiptId[]
  /** Id of the receipt that settled an intent, by the intent's id. Covers the receipts that are kept. */
  readonly receiptOfIntent: PersistentMap<AccrualId, ReceiptId>
  /** Number of all receipts, including those no longer kept. */
  readonly receiptCount: number
  readonly settledUsd: Usd
  /** The settlement whose receipt is the next event. */
  readonly settling: PayloadOf<'karma.settlement.v1'> | null
  /** Set with the first live receipt. Until then the configuration decides. */
  readonly lockedWallet: Wallet | null
}

/** State that the treasury reads: its own, and which signals led to a trade. */
export interface TreasuryFacts {
  readonly treasury: TreasuryState
  readonly brain: BrainState
}

export const INITIAL_TREASURY: TreasuryState = {
  pending: PersistentMap(),
  pendingUsd: NO_USD,
  receipts: PersistentMap(),
  receiptIds: [],
  receiptOfIntent: PersistentMap(),
  receiptCount: 0,
  settledUsd: NO_USD,
  settling: null,
  lockedWallet: null,
}

/** More receipts than can be stored between a read of the log and a decision. */
export const RECEIPTS_KEPT = 1000

export const evolveTreasury = (treasury: TreasuryState, event: KnownEvent): TreasuryState => {
  switch (event.type) {
    case 'karma.intent.v1':
      return {
        ...treasury,
        pending: treasury.pending.set(event.payload.intent_id, event.payload),
        pendingUsd: plus(treasury.pendingUsd, usdFrom(event.payload.karma_amount_usd)),
      }
    case 'karma.settlement.v1':
      return { ...treasury, settling: event.payload }
    case 'karma.receipt.v1':
      return settled(treasury, event.payload)
    case 'karma.wallet_migration.v1': {
      const { new_address: address, new_percentage: percentage } = event.payload
      return { ...treasury, lockedWallet: { address, percentage } }
    }
    default:
      return treasury
  }
}

const settled = (treasury: TreasuryState, receipt: PayloadOf<'karma.receipt.v1'>): TreasuryState => {
  const { settling } = treasury
  assertFold(settling?.receipt_id === receipt.receipt_id, `receipt ${receipt.receipt_id} has no settlement`)
  const paid = receipt.intent_ids.flatMap((id) => treasury.pending.get(id) ?? [])
  const paidUsd = sumOf(paid.map(({ karma_amount_usd: amount }) => usdFrom(amount)))
  const isFirstLive = receipt.mode === 'live' && treasury.lockedWallet === null
  return {
    pending: treasury.pending.deleteAll(receipt.intent_ids),
    pendingUsd: minus(treasury.pendingUsd, paidUsd),
    ...withNewest(treasury, { receipt, skipped: settling.skipped }),
    receiptCount: treasury.receiptCount + 1,
    settledUsd: plus(treasury.settledUsd, usdFrom(receipt.total_usd)),
    settling: null,
    lockedWallet: isFirstLive
      ? { address: settling.destination_wallet, percentage: settling.karma_percentage }
      : treasury.lockedWallet,
  }
}

type KeptReceipts = Pick<TreasuryState, 'receipts' | 'receiptIds' | 'receiptOfIntent'>

/** Drops the oldest receipts; the log has them. */
const withNewest = (
  { receipts, receiptIds, receiptOfIntent }: KeptReceipts,
  newest: SettlementReceipt,
): KeptReceipts => {
  const { receipt_id: id, intent_ids: intentIds } = newest.receipt
  const ids = [...receiptIds, id]
  const gone = ids.slice(0, -RECEIPTS_KEPT)
  const intentsGone = gone.flatMap((old) => receipts.get(old)?.receipt.intent_ids ?? [])
  return {
    receipts: receipts.set(id, newest).deleteAll(gone),
    receiptIds: ids.slice(-RECEIPTS_KEPT),
    receiptOfIntent: receiptOfIntent.withMutations((known) => {
      for (const intentId of intentIds) known.set(intentId, id)
      known.deleteAll(intentsGone)
    }),
  }
}
