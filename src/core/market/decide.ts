import { timestampOf, type Timestamp } from '../shared/brand.ts'
import type { Decision } from '../shared/decision.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import type { Market } from './evolve.ts'
import type { NewEvent, NewPayload } from '../events/catalogue.ts'
import { canonicalSymbol } from '../shared/symbol.ts'
import { isFromFuture, msOf } from '../shared/time.ts'
import {
  type BarFault,
  barFaultOf,
  exactTimesOf,
  type FeedBar,
  moveBetween,
  observedAt,
  observedBar,
  type ObservedBar,
  reportedBar,
  type StoredBar,
} from './bar.ts'

export interface MarketCommand {
  readonly kind: 'observe-bars'
  readonly observation: Observation
}

/** Stores valid bars. Invalid bars are refused with a reason, never repaired. */
export const decideMarket = (
  { market }: { readonly market: Market },
  { observation: { feed, bars } }: MarketCommand,
  context: DecisionContext,
): Decision => {
  const events: NewEvent[] = []
  for (const bar of bars) events.push(...eventsOfBar(market, bar, feed, context))
  return { status: 'accepted', events }
}

interface Observation {
  /** Name of the feed. */
  readonly feed: string
  /** Bars of one close time, each symbol at most once. */
  readonly bars: readonly FeedBar[]
}

/** Largest distance of a second bar that confirms a jump. */
const CONFIRMING_MOVE_MAX = 0.1

const eventsOfBar = (
  market: Market,
  bar: FeedBar,
  feed: string,
  { now, configuration }: DecisionContext,
): readonly NewEvent[] => {
  // A larger jump needs a second bar that confirms it.
  const moveMax = configuration.market.max_bar_move_pct
  const known = market.symbols.get(canonicalSymbol(bar.symbol))
  const nowMs = msOf(now)
  const isCredible = ({ close_ts }: StoredBar): boolean => !isFromFuture(msOf(close_ts), nowMs)
  const held = known !== undefined && known.held !== null && isCredible(known.held) ? known.held : null
  const last = held ?? known?.last ?? null
  const isLastCredible = last !== null && isCredible(last)
  const times = exactTimesOf(bar)
  // A bar from the future is not used as the last one: every later bar would be out of order, and a wrong clock would
  // end the prices of a symbol.
  const fault = barFaultOf(bar, isLastCredible ? last : null, nowMs, times)
  if (fault !== null) return [refused(bar, fault)]
  if (known === undefined || last === null) return [new BarEvent(bar, observedAt(bar, feed, times), null)]
  const { repeatedUntil } = known
  const isAfterCredible = last === known.last ? isLastCredible : isCredible(known.last)
  const seen = observedAt(bar, feed, times)
  const event = new BarEvent(bar, seen, isAfterCredible ? repeatedUntil : known.last.open_ts)
  const { open, close } = seen.bar
  // No stop may fill at an open that is far from both the last close and its own close.
  if (moveBetween(last.close, open) > moveMax && moveBetween(close, open) > moveMax)
    return [refused(bar, 'price_jump')]
  if (held !== null && moveBetween(held.close, close) <= CONFIRMING_MOVE_MAX) {
    const confirmed = reportedBar(held)
    return [
      new BarEvent(confirmed, observedBar(confirmed, feed), repeatedUntil),
      new BarEvent(bar, seen, repeatedUntil),
    ]
  }
  const dropped = held === null ? [] : [refused(held, 'price_jump')]
  const taken = moveBetween(known.last.close, close) > moveMax ? heldEvent(bar, feed) : event
  return [...dropped, taken]
}

/**
 * The event of a valid bar. Payload and key are made when they are read: a backtest without a log folds the observed
 * bar and stores no event.
 */
export class BarEvent {
  readonly type = 'market.bar.v1'
  readonly source = 'market'
  readonly observed: ObservedBar
  readonly #bar: FeedBar
  readonly #repeatedUntil: string | null

  /** `repeatedUntil`: a wrong clock may have stored bars that open up to this time, so their keys get a suffix. */
  constructor(bar: FeedBar, observed: ObservedBar, repeatedUntil: string | null) {
    this.observed = observed
    this.#bar = bar
    this.#repeatedUntil = repeatedUntil
  }

  get ts(): Timestamp {
    return timestampOf(this.#bar.close_ts)
  }

  get dedupeKey(): string {
    const { symbol, resolution_s: seconds, open_ts: openTs } = this.#bar
    const until = this.#repeatedUntil
    return [
      `bar:${this.observed.feed}:${symbol}:${seconds}:${openTs}`,
      ...(until !== null && openTs <= until ? [`after:${until}`] : []),
    ].join(':')
  }

  get payload(): NewPayload<'market.bar.v1'> {
    return { ...this.#bar, feed: this.observed.feed }
  }
}

const heldEvent = (bar: FeedBar, feed: string): NewEvent => ({
  type: 'market.bar_held.v1',
  source: 'market',
  ts: timestampOf(bar.close_ts),
  payload: { ...bar, feed },
})

const refused = ({ symbol }: Pick<FeedBar, 'symbol'>, reason: BarFault): NewEvent => ({
  type: 'system.audit.v1',
  source: 'market',
  payload: { resource: `market:${symbol}`, action: 'write', outcome: 'denied', reason, request_id: null },
})
