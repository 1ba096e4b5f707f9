import {
  type Timestamp,
  accrualId,
  type PositionId,
  type ContributorId,
  type NodeId,
} from '../shared/brand.ts'
import type { CreditedContributor } from '../brain/trades.ts'
import type { NewEvent, PayloadOf } from '../events/catalogue.ts'
import { canonicalJson } from '../log/canonical-json.ts'
import type { Sha256Hex } from '../log/hash-chain.ts'
import { accept, type Decision } from '../shared/decision.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import { derivedId } from '../shared/derived-id.ts'
import type { Json } from '../shared/json.ts'
import { nearestShareOf, usdFrom, usdNumber, type Usd } from '../shared/money.ts'
import type { TreasuryFacts } from './evolve.ts'
import { walletInForce, type Wallet } from './wallet.ts'

/** A closed trade. */
export interface Profit {
  readonly positionId: PositionId
  readonly realized: Usd
  readonly mode: 'paper' | 'live'
  /** One entry per contributor signal behind the trade. */
  readonly contributors: readonly CreditedContributor[]
}

export interface ReceiptSigner {
  readonly now: Timestamp
  readonly nodeId: NodeId
  /** Base64. */
  readonly sign: (text: string) => string
  readonly sha256Hex: Sha256Hex
}

/** Accrues the contributors' share of a profitable close. */
export const accrueShares = (
  { treasury, brain }: TreasuryFacts,
  close: PayloadOf<'execution.position_closed.v1'>,
  context: DecisionContext,
): Decision => {
  const { karma: rules } = context.configuration
  const trade = brain.learning.trades.held.get(close.position_id)
  if (!rules.enabled || trade === undefined) return accept()
  const profit = {
    positionId: close.position_id,
    realized: usdFrom(close.realized_pnl),
    mode: close.mode,
    contributors: trade.contributors,
  }
  const event = accrualEvent(profit, walletInForce(treasury, rules), receiptSignerOf(context))
  return accept(...(event === null ? [] : [event]))
}

export const receiptSignerOf = ({ now, nodeId, sign, sha256Hex }: DecisionContext): ReceiptSigner => ({
  now,
  nodeId,
  sign,
  sha256Hex,
})

/** Returns null if the close pays nothing. */
export const accrualEvent = (
  profit: Profit,
  wallet: Wallet,
  receiptSigner: ReceiptSigner,
): NewEvent | null => {
  const { positionId, realized, mode } = profit
  if (realized <= 0n || wallet.percentage <= 0 || wallet.address === '') return null
  const amount = nearestShareOf(realized, wallet.percentage)
  if (amount === 0n) return null
  const members = {
    trade_id: positionId,
    node_id: receiptSigner.nodeId,
    realized_pnl_usd: usdNumber(realized),
    karma_percentage: wallet.percentage,
    karma_amount_usd: usdNumber(amount),
    contributors: sharesOf(profit.contributors),
    mode,
    created_at: receiptSigner.now,
  }
  const id = accrualId(derivedId('karma.intent', positionId, receiptSigner.sha256Hex))
  return {
    type: 'karma.intent.v1',
    source: 'karma',
    payload: { intent_id: id, ...members, signature_b64: signed({ id, ...members }, receiptSigner) },
  }
}

/**
 * Ed25519 signature over the canonical JSON of the API's view, without the signature itself. Any reader can verify it.
 */
export const signed = (shown: Json, { sign }: Pick<ReceiptSigner, 'sign'>): string =>
  sign(canonicalJson(shown))

const BILLION = 1e9

/**
 * Shares by contribution to the decision, in whole billionths. The residue goes to the first contributors. Shares are
 * equal if no weights are known, as in intents of old logs.
 */
const sharesOf = (contributors: Profit['contributors']) => {
  const isWeighed = contributors.some(({ weight }) => weight > 0)
  // Whole numbers add up alike in any order.
  const partOf = (weight: number): number => (isWeighed ? Math.round(weight * BILLION) : 1)
  const total = contributors.reduce((sum, { weight }) => sum + partOf(weight), 0)
  const byContributor = new Map<ContributorId, { readonly nodeId: NodeId; readonly part: number }>()
  for (const { contributorId, nodeId, weight } of contributors) {
    const before = byContributor.get(contributorId)?.part ?? 0
    byContributor.set(contributorId, { nodeId, part: before + partOf(weight) })
  }
  const units = [...byContributor].map(([contributorId, { nodeId, part }]) => ({
    contributorId,
    nodeId,
    units: Math.floor((part * BILLION) / total),
  }))
  const residue = BILLION - units.reduce((sum, { units: own }) => sum + own, 0)
  return units.map(({ contributorId, nodeId, units: own }, index) => ({
    contributor_id: contributorId,
    node_id: nodeId,
    share: (own + (index < residue ? 1 : 0)) / BILLION,
  }))
}
