import { Map as PersistentMap } from 'immutable'
import type { KnownEvent, PayloadOf } from '../events/catalogue.ts'
import { DAY_MS } from '../shared/time.ts'

/** What was believed when a trade began, and by whom. */
export interface Trade {
  readonly convictionId: string
  readonly domainScores: Readonly<Record<string, number>>
  readonly signalIds: readonly string[]
  /** Who is behind each signal of a contributor that the intent lists. */
  readonly contributors: readonly { readonly contributorId: string; readonly nodeId: string }[]
}

/** From the conviction to the close. Nothing stays longer than its trade. */
export interface Trades {
  /** Domain scores of convictions, until their cycle ends. */
  readonly convictions: PersistentMap<string, Readonly<Record<string, number>>>
  /** By intent, until it opens a position or can no longer. */
  readonly wanted: PersistentMap<string, Trade & { readonly validUntil: string }>
  /** By position. */
  readonly held: PersistentMap<string, Trade>
  /** Closed positions. What follows from a close is done by the next cycle: then they go. */
  readonly closed: readonly string[]
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
      // Absent from what is left of a damaged event.
      const action = (decision as typeof decision | undefined)?.action
      if (action !== 'long' && action !== 'short') return trades
      return { ...trades, convictions: trades.convictions.set(event.id, scores) }
    }
    case 'execution.trade_intent.v1':
      return { ...trades, wanted: trades.wanted.set(event.id, wantedBy(trades, event.payload)) }
    case 'execution.order_failed.v1': {
      const { intent_id: intentId } = event.payload
      if (intentId === null || !trades.wanted.has(intentId)) return trades
      return { ...trades, wanted: trades.wanted.delete(intentId) }
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
): Trade & { readonly validUntil: string } => ({
  convictionId: intent.conviction_id,
  domainScores: convictions.get(intent.conviction_id) ?? {},
  signalIds: intent.signal_ids,
  contributors: intent.attribution.flatMap(({ contributor_id: contributorId, node_id: nodeId }) =>
    typeof contributorId === 'string' && typeof nodeId === 'string' ? [{ contributorId, nodeId }] : [],
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
    convictions: trades.convictions,
    wanted: trades.wanted.delete(position.intent_id),
    held: trades.held.set(position.position_id, { convictionId, domainScores, signalIds, contributors }),
    closed: trades.closed,
  }
}

/** An order whose fate is unclear may still be filled after its time. */
const GRACE_MS = DAY_MS

const swept = (trades: Trades, now: string): Trades => {
  const overdue = new Date(Date.parse(now) - GRACE_MS).toISOString()
  const hopeless = [...trades.wanted].flatMap(([id, { validUntil }]) => (validUntil < overdue ? [id] : []))
  const { convictions, wanted, held, closed } = trades
  if (convictions.size === 0 && hopeless.length === 0 && closed.length === 0) return trades
  return {
    convictions: NO_TRADES.convictions,
    wanted: hopeless.length === 0 ? wanted : wanted.deleteAll(hopeless),
    held: closed.length === 0 ? held : held.deleteAll(closed),
    closed: [],
  }
}
