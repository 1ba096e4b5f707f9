import {
  type Timestamp,
  intentId,
  type IntentId,
  type PositionId,
  type SignalId,
  type ContributorId,
  type NodeId,
} from '../shared/brand.ts'
import { Map as PersistentMap } from 'immutable'
import type { KnownEvent, PayloadOf } from '../events/catalogue.ts'
import { DAY_MS, timestampAt } from '../shared/time.ts'
import { r9 } from '../shared/numbers.ts'

/** The signals and domain scores behind a trade. */
export interface TradeInputs {
  readonly convictionId: string
  readonly domainScores: Readonly<Record<string, number>>
  readonly signalIds: readonly SignalId[]
  /** One entry per contributor signal that the intent lists, with its part of the decision. */
  readonly contributors: readonly CreditedContributor[]
}

export interface CreditedContributor {
  readonly contributorId: ContributorId
  readonly nodeId: NodeId
  /** Weight from 0 to 1. Producers have no entry, so the weights may add up to less than 1. */
  readonly weight: number
}

/** Trades from the conviction until the close, after which they are dropped. */
export interface Trades {
  /** Domain scores of convictions, until their cycle ends. */
  readonly convictions: PersistentMap<string, Readonly<Record<string, number>>>
  /** Intended trades by intent, until the intent opens a position or can no longer do so. */
  readonly wanted: PersistentMap<IntentId, TradeInputs & { readonly validUntil: Timestamp }>
  /** Open trades by position. */
  readonly held: PersistentMap<PositionId, TradeInputs>
  /** Closed positions. Their outcome and shares are recorded in the same batch; the next cycle drops them. */
  readonly closed: readonly PositionId[]
}

export const NO_TRADES: Trades = {
  convictions: PersistentMap(),
  wanted: PersistentMap(),
  held: PersistentMap(),
  closed: [],
}

export const evolveTrades = (trades: Trades, event: KnownEvent): Trades => {
  switch (event.type) {
    case 'brain.conviction.v1': {
      const { decision, domain_scores: scores } = event.payload
      // A damaged event may lack `decision`.
      const action = (decision as typeof decision | undefined)?.action
      if (action !== 'long' && action !== 'short') return trades
      return { ...trades, convictions: trades.convictions.set(event.id, scores) }
    }
    case 'execution.trade_intent.v1':
      return { ...trades, wanted: trades.wanted.set(intentId(event.id), wantedBy(trades, event.payload)) }
    case 'execution.order_failed.v1': {
      const { intent_id: id } = event.payload
      return id === null || !trades.wanted.has(id) ? trades : { ...trades, wanted: trades.wanted.delete(id) }
    }
    case 'execution.position_opened.v1':
      return opened(trades, event.payload)
    case 'execution.position_closed.v1':
      return trades.held.has(event.payload.position_id)
        ? { ...trades, closed: [...trades.closed, event.payload.position_id] }
        : trades
    case 'brain.cycle.v1':
      return swept(trades, event.ts)
    default:
      return trades
  }
}

const wantedBy = (
  { convictions }: Trades,
  intent: PayloadOf<'execution.trade_intent.v1'>,
): TradeInputs & { readonly validUntil: Timestamp } => ({
  convictionId: intent.conviction_id,
  domainScores: convictions.get(intent.conviction_id) ?? {},
  signalIds: intent.signal_ids,
  contributors: intent.attribution.flatMap(({ contributor_id: contributorId, node_id: nodeId, weight }) =>
    typeof contributorId === 'string' && typeof nodeId === 'string'
      ? [{ contributorId, nodeId, weight: typeof weight === 'number' ? weight : 0 }]
      : [],
  ),
  validUntil: intent.valid_until,
})

const opened = (trades: Trades, position: PayloadOf<'execution.position_opened.v1'>): Trades => {
  const wanted = trades.wanted.get(position.intent_id)
  const { convictionId, domainScores, signalIds, contributors } = wanted ?? {
    convictionId: position.conviction_id,
    domainScores: {},
    signalIds: position.signal_ids,
    contributors: [],
  }
  return {
    ...trades,
    wanted: trades.wanted.delete(position.intent_id),
    held: trades.held.set(position.position_id, { convictionId, domainScores, signalIds, contributors }),
  }
}

/** An order in status UNKNOWN may still fill after it expired. */
const GRACE_MS = DAY_MS

/** Trades without closed positions, whose consequences have been recorded. */
export const withoutClosed = (trades: Trades): Trades => ({
  ...trades,
  held: trades.held.deleteAll(trades.closed),
  closed: [],
})

const swept = (trades: Trades, now: Timestamp): Trades => {
  const { convictions, wanted, held, closed } = trades
  if (convictions.size === 0 && wanted.size === 0 && closed.length === 0) return trades
  const overdue = timestampAt(Date.parse(now) - GRACE_MS)
  const expired = [...wanted].flatMap(([id, { validUntil }]) => (validUntil < overdue ? [id] : []))
  if (convictions.size === 0 && expired.length === 0 && closed.length === 0) return trades
  return {
    convictions: NO_TRADES.convictions,
    wanted: expired.length === 0 ? wanted : wanted.deleteAll(expired),
    held: closed.length === 0 ? held : held.deleteAll(closed),
    closed: [],
  }
}

/** A closed trade, reduced to what learning needs. */
export interface TradeSample {
  readonly at: Timestamp
  readonly won: boolean
  readonly netReturn: number
  /** 1 for a long, -1 for a short. */
  readonly side: 1 | -1
  /** Domain values at entry, -1 to 1. */
  readonly values: Readonly<Record<string, number>>
  readonly signals: number
}

/** The newest closes, oldest first. Stored in chunks, so that adding a close copies one chunk only. */
export type Closes = readonly (readonly TradeSample[])[]

export const NO_CLOSES: Closes = []

const CHUNK = 100
const CHUNKS_MAX = 101

/** Limit of kept closes, at least as many as any configuration requires. */
export const CLOSES_KEPT = CHUNK * (CHUNKS_MAX - 1)

export const closeOf = (outcome: PayloadOf<'learning.outcome.v1'>, at: Timestamp): TradeSample => ({
  at,
  won: outcome.realized_pnl > 0,
  netReturn: outcome.net_return,
  side: outcome.direction === 'long' ? 1 : -1,
  values: Object.fromEntries(
    Object.entries(outcome.domain_scores_at_entry).map(([domain, score]) => [domain, r9(2 * score - 1)]),
  ),
  signals: outcome.signal_ids.length,
})

export const withClose = (closes: Closes, close: TradeSample): Closes => {
  const last = closes.at(-1)
  if (last !== undefined && last.length < CHUNK) return [...closes.slice(0, -1), [...last, close]]
  return [...closes.slice(-(CHUNKS_MAX - 1)), [close]]
}

/** Closes after a time, oldest first. Times never decrease, so older chunks are skipped. */
export const closesAfter = (closes: Closes, from: Timestamp): readonly TradeSample[] => {
  const first = closes.findLastIndex((chunk) => (chunk[0]?.at ?? '') <= from)
  return closes
    .slice(Math.max(0, first))
    .flat()
    .filter(({ at }) => at > from)
}
