import { Map as PersistentMap } from 'immutable'

export interface KarmaIntent {
  readonly id: string
  readonly tradeId: string
  readonly nodeId: string
  readonly realizedPnlUsd: number
  readonly percentage: number
  readonly amountUsd: number
  readonly contributors: readonly {
    readonly contributorId: string
    readonly nodeId: string
    readonly share: number
  }[]
  readonly mode: 'paper' | 'live'
  readonly signatureBase64: string
  readonly createdAt: string
}

export interface KarmaReceipt {
  readonly id: string
  readonly intentIds: readonly string[]
  readonly totalUsd: number
  readonly destinationWallet: string
  readonly txHash: string | null
  readonly status: 'pending' | 'submitted' | 'confirmed' | 'failed'
  readonly mode: 'paper' | 'live'
  readonly nodeId: string
  readonly signatureBase64: string
  readonly createdAt: string
}

export interface Karma {
  /** Waiting to be settled, by id. */
  readonly pending: PersistentMap<string, KarmaIntent>
  /** The receipt of each settled intent, by the intent's id. */
  readonly receiptOfIntent: PersistentMap<string, string>
  readonly receipts: PersistentMap<string, KarmaReceipt>
}

export const INITIAL_KARMA: Karma = {
  pending: PersistentMap(),
  receiptOfIntent: PersistentMap(),
  receipts: PersistentMap(),
}

export interface Skipped {
  readonly id: string
  readonly reason: 'unknown' | 'already_settled'
}

export interface SettlementRules {
  readonly enabled: boolean
  readonly treasuryAddress: string
}

/** What may be settled of what was asked for, or why nothing is. */
export type Settleable =
  | {
      readonly status: 'settleable'
      readonly intents: readonly KarmaIntent[]
      readonly skipped: readonly Skipped[]
    }
  | { readonly status: 'rejected'; readonly detail: string; readonly skipped: readonly Skipped[] }

export const settleable = (
  { pending, receiptOfIntent }: Karma,
  requestedIds: readonly string[],
  { enabled, treasuryAddress }: SettlementRules,
): Settleable => {
  const ids = [...new Set(requestedIds)]
  const intents = ids.flatMap((id) => pending.get(id) ?? [])
  const skipped = ids
    .filter((id) => !pending.has(id))
    .map((id) => ({
      id,
      reason: receiptOfIntent.has(id) ? ('already_settled' as const) : ('unknown' as const),
    }))
  const rejected = (detail: string): Settleable => ({ status: 'rejected', detail, skipped })
  if (ids.length === 0) return rejected('no karma intent was named')
  if (intents.length === 0) return rejected('none of these karma intents is pending')
  if (!enabled) return rejected('karma is disabled')
  if (treasuryAddress === '') return rejected('no treasury address is configured')
  if (new Set(intents.map(({ mode }) => mode)).size > 1) {
    return rejected('paper and live karma intents cannot be settled together')
  }
  return { status: 'settleable', intents, skipped }
}
