import { type Timestamp, receiptId, type AccrualId, type ReceiptId } from '../shared/brand.ts'
import type { NewEvent } from '../events/catalogue.ts'
import { canonicalJson } from '../log/canonical-json.ts'
import type { Sha256Hex } from '../log/hash-chain.ts'
import { accept, type Decision, refuse } from '../shared/decision.ts'
import { derivedId } from '../shared/derived-id.ts'
import type { Json } from '../shared/json.ts'
import { sumOf, usdFrom, usdNumber } from '../shared/money.ts'
import type { ShareAccrual, Skipped, TreasuryState } from './evolve.ts'
import { type ReceiptSigner, receiptSignerOf, signed } from './accrue.ts'
import { type TreasuryRules, type Wallet, walletInForce } from './wallet.ts'
import type { Configuration } from '../config/schema.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import { DAY_MS, timestampAt } from '../shared/time.ts'

export interface SettlementRequest {
  readonly intentIds: readonly AccrualId[]
  readonly txHash: string | null
}

/** Facts of the log about a request. It may lack the latest settlements, which are in the state. */
export interface SettlementStatus {
  /** True if the same request was settled before. */
  readonly isRepeated: boolean
  readonly settledIds: readonly AccrualId[]
}

/** More would not fit into one event. */
export const SETTLED_AT_ONCE_MAX = 250

/** Records that intents were paid. A repeated request writes nothing and returns the first receipt. */
export const settleShares = (
  karma: TreasuryState,
  { intentIds, txHash }: SettlementRequest,
  { isRepeated, settledIds }: SettlementStatus,
  { rules, receiptSigner }: { readonly rules: TreasuryRules; readonly receiptSigner: ReceiptSigner },
): Decision => {
  if (isRepeated || karma.receipts.has(receiptIdOf(intentIds, txHash, receiptSigner.sha256Hex)))
    return accept()
  const found = settleable(karma, intentIds, new Set(settledIds), rules)
  if (found.status === 'rejected') {
    return refuse('karma.settlement_rejected', found.detail, { skipped: found.skipped as unknown as Json })
  }
  const wallet = walletInForce(karma, rules)
  return accept(...settlementEvents({ ...found, requestedIds: intentIds, txHash }, wallet, receiptSigner))
}

/** All pending shares, paper and live separately. */
const settleAllShares = (
  karma: TreasuryState,
  rules: TreasuryRules,
  receiptSigner: ReceiptSigner,
): Decision => {
  const wallet = walletInForce(karma, rules)
  if (!rules.enabled || wallet.address === '') return accept()
  const oldestFirst = [...karma.pending.values()].sort((one, other) => orderOf(one, other))
  const settlements = (['paper', 'live'] as const).flatMap((mode) =>
    chunksOf(oldestFirst.filter((intent) => intent.mode === mode)),
  )
  return accept(
    ...settlements.flatMap((intents) => {
      const requestedIds = intents.map(({ intent_id: id }) => id)
      return settlementEvents({ intents, skipped: [], requestedIds, txHash: null }, wallet, receiptSigner)
    }),
  )
}

/** Id of the receipt for a request. It is equal for repeated requests, whatever the order of their ids. */
export const receiptIdOf = (
  requestedIds: readonly AccrualId[],
  txHash: string | null,
  sha256Hex: Sha256Hex,
): ReceiptId =>
  receiptId(derivedId('karma.receipt', canonicalJson([uniqueOf(requestedIds).sort(), txHash]), sha256Hex))

/** Whether the pending sum has reached the threshold. */
const hasReached = ({ pendingUsd }: TreasuryState, thresholdUsd: number): boolean =>
  pendingUsd > 0n && pendingUsd >= usdFrom(thresholdUsd)

const waitsSinceBefore = ({ pending }: TreasuryState, time: Timestamp): boolean =>
  pending.some(({ created_at: createdAt }) => createdAt < time)

/** The settleable part of a request, or why there is none. */
type Settleable =
  | {
      readonly status: 'settleable'
      readonly intents: readonly ShareAccrual[]
      readonly skipped: readonly Skipped[]
    }
  | { readonly status: 'rejected'; readonly detail: string; readonly skipped: readonly Skipped[] }

const settleable = (
  karma: TreasuryState,
  requestedIds: readonly AccrualId[],
  settledIds: ReadonlySet<AccrualId>,
  rules: TreasuryRules,
): Settleable => {
  const { pending, receiptOfIntent } = karma
  const ids = uniqueOf(requestedIds)
  const intents = ids.flatMap((id) => pending.get(id) ?? [])
  const skipped = ids
    .filter((id) => !pending.has(id))
    .map((id) => {
      const isSettled = receiptOfIntent.has(id) || settledIds.has(id)
      return { id, reason: isSettled ? ('already_settled' as const) : ('unknown' as const) }
    })
  const rejected = (detail: string): Settleable => ({ status: 'rejected', detail, skipped })
  if (ids.length === 0) return rejected('no karma intent was named')
  if (intents.length === 0) return rejected('none of these karma intents is pending')
  if (!rules.enabled) return rejected('karma is disabled')
  if (walletInForce(karma, rules).address === '') return rejected('no treasury address is configured')
  if (new Set(intents.map(({ mode }) => mode)).size > 1) {
    return rejected('paper and live karma intents cannot be settled together')
  }
  return { status: 'settleable', intents, skipped }
}

interface Settlement {
  readonly intents: readonly ShareAccrual[]
  readonly skipped: readonly Skipped[]
  readonly requestedIds: readonly AccrualId[]
  readonly txHash: string | null
}

const settlementEvents = (
  settlement: Settlement,
  wallet: Wallet,
  receiptSigner: ReceiptSigner,
): readonly NewEvent[] => {
  const { intents, skipped, txHash } = settlement
  const id = receiptIdOf(settlement.requestedIds, txHash, receiptSigner.sha256Hex)
  const intentIds = intents.map(({ intent_id: intentId }) => intentId)
  const total = sumOf(intents.map(({ karma_amount_usd: amount }) => usdFrom(amount)))
  const mode = intents[0]?.mode ?? 'paper'
  const members = {
    intent_ids: intentIds,
    total_usd: usdNumber(total),
    destination_wallet: wallet.address,
    tx_hash: txHash,
    status: txHash === null ? ('pending' as const) : ('submitted' as const),
    mode,
    node_id: receiptSigner.nodeId,
    created_at: receiptSigner.now,
  }
  return [
    {
      type: 'karma.settlement.v1',
      source: 'karma',
      payload: {
        receipt_id: id,
        requested_ids: uniqueOf(settlement.requestedIds),
        intent_ids: intentIds,
        skipped: [...skipped],
        total_usd: members.total_usd,
        tx_hash: txHash,
        mode,
        destination_wallet: wallet.address,
        karma_percentage: wallet.percentage,
      },
    },
    {
      type: 'karma.receipt.v1',
      source: 'karma',
      payload: { receipt_id: id, ...members, signature_b64: signed({ id, ...members }, receiptSigner) },
    },
  ]
}

const chunksOf = (intents: readonly ShareAccrual[]): readonly (readonly ShareAccrual[])[] =>
  Array.from({ length: Math.ceil(intents.length / SETTLED_AT_ONCE_MAX) }, (_, index) =>
    intents.slice(index * SETTLED_AT_ONCE_MAX, (index + 1) * SETTLED_AT_ONCE_MAX),
  )

const orderOf = (one: ShareAccrual, other: ShareAccrual): number => {
  if (one.created_at !== other.created_at) return one.created_at < other.created_at ? -1 : 1
  return one.intent_id < other.intent_id ? -1 : 1
}

const uniqueOf = (ids: readonly AccrualId[]): AccrualId[] => [...new Set(ids)]

/** All pending shares, if the configured settlement is due. */
export const settleDueShares = (treasury: TreasuryState, context: DecisionContext): Decision =>
  isSettlementDue(treasury, context.configuration, context.now)
    ? settleAllShares(treasury, context.configuration.karma, receiptSignerOf(context))
    : accept()

/** True after midnight, also if the process missed it: everything accrued before the last midnight is due. */
export const isSettlementDue = (
  treasury: TreasuryState,
  { karma: rules }: Configuration,
  now: Timestamp,
): boolean => {
  if (treasury.pending.size === 0) return false
  switch (rules.settlement_mode) {
    case 'manual':
      return false
    case 'daily':
      return waitsSinceBefore(treasury, midnightOf(now, 0))
    case 'weekly':
      return waitsSinceBefore(treasury, midnightOf(now, daysSinceMonday(now)))
    case 'threshold':
      return hasReached(treasury, rules.threshold_usd)
  }
}

const midnightOf = (now: Timestamp, daysBack: number): Timestamp =>
  timestampAt(Math.floor(Date.parse(now) / DAY_MS) * DAY_MS - daysBack * DAY_MS)

const daysSinceMonday = (now: Timestamp): number => (new Date(now).getUTCDay() + 6) % 7
