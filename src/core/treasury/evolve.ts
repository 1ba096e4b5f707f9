import { Map as PersistentMap } from 'immutable'
import type { KnownEvent, PayloadOf } from '../events/catalogue.ts'
import { usdFrom, type Usd } from '../shared/money.ts'
import type { BrainState } from '../brain/evolve.ts'
import type { Wallet } from './wallet.ts'

export type ShareAccrual = PayloadOf<'karma.intent.v1'>

export interface SettlementReceipt {
  readonly receipt: PayloadOf<'karma.receipt.v1'>
  /** What the first answer said was left out. */
  readonly skipped: readonly Skipped[]
}

export interface Skipped {
  readonly id: string
  readonly reason: 'unknown' | 'already_settled'
}

/** What is owed and what was settled. */
export interface TreasuryState {
  /** Waiting to be settled, by id. */
  readonly pending: PersistentMap<string, ShareAccrual>
  readonly pendingUsd: Usd
  /** The newest receipts, by id. The log has all of them. */
  readonly receipts: PersistentMap<string, SettlementReceipt>
  /** Their ids, oldest first. */
  readonly receiptIds: readonly string[]
  /** The receipt of each intent that they settled, by the intent's id. */
  readonly receiptOfIntent: PersistentMap<string, string>
  /** Of all there ever were. */
  readonly receiptCount: number
  readonly settledUsd: Usd
  /** A settlement whose receipt is the next event. */
  readonly settling: PayloadOf<'karma.settlement.v1'> | null
  /** From the first live receipt on; before, the configuration decides. */
  readonly lockedWallet: Wallet | null
}

/** What the treasury reads: its own state, and which signals led to a trade. */
export interface TreasuryFacts {
  readonly treasury: TreasuryState
  readonly brain: BrainState
}

export const INITIAL_TREASURY: TreasuryState = {
  pending: PersistentMap(),
  pendingUsd: 0n,
  receipts: PersistentMap(),
  receiptIds: [],
  receiptOfIntent: PersistentMap(),
  receiptCount: 0,
  settledUsd: 0n,
  settling: null,
  lockedWallet: null,
}

/** More than can be settled between a look at the log and a decision. */
export const RECEIPTS_KEPT = 1000

export const evolveTreasury = (karma: TreasuryState, event: KnownEvent): TreasuryState => {
  switch (event.type) {
    case 'karma.intent.v1':
      return {
        ...karma,
        pending: karma.pending.set(event.payload.intent_id, event.payload),
        pendingUsd: karma.pendingUsd + usdFrom(event.payload.karma_amount_usd),
      }
    case 'karma.settlement.v1':
      return { ...karma, settling: event.payload }
    case 'karma.receipt.v1':
      return settled(karma, event.payload)
    case 'karma.wallet_migration.v1': {
      const { new_address: address, new_percentage: percentage } = event.payload
      return { ...karma, lockedWallet: { address, percentage } }
    }
    default:
      return karma
  }
}

const settled = (karma: TreasuryState, receipt: PayloadOf<'karma.receipt.v1'>): TreasuryState => {
  const { settling } = karma
  const known = settling?.receipt_id === receipt.receipt_id ? settling : null
  const paid = receipt.intent_ids.flatMap((id) => karma.pending.get(id) ?? [])
  const paidUsd = paid.reduce((sum, { karma_amount_usd: amount }) => sum + usdFrom(amount), 0n)
  const isFirstLive = receipt.mode === 'live' && karma.lockedWallet === null && known !== null
  return {
    pending: karma.pending.deleteAll(receipt.intent_ids),
    pendingUsd: karma.pendingUsd - paidUsd,
    ...withNewest(karma, { receipt, skipped: known?.skipped ?? [] }),
    receiptCount: karma.receiptCount + 1,
    settledUsd: karma.settledUsd + usdFrom(receipt.total_usd),
    settling: null,
    lockedWallet: isFirstLive
      ? { address: known.destination_wallet, percentage: known.karma_percentage }
      : karma.lockedWallet,
  }
}

type Remembered = Pick<TreasuryState, 'receipts' | 'receiptIds' | 'receiptOfIntent'>

/** The oldest make room; who asks for one of them is answered from the log. */
const withNewest = (
  { receipts, receiptIds, receiptOfIntent }: Remembered,
  newest: SettlementReceipt,
): Remembered => {
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
