import { timestampOf } from '../shared/brand.ts'
import { accept, type Decision } from '../shared/decision.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import type { Market } from './evolve.ts'
import type { NewEvent } from '../events/catalogue.ts'
import { priceFrom } from '../shared/money.ts'
import { canonicalSymbol } from '../shared/symbol.ts'
import { isFromFuture } from '../shared/time.ts'
import { type BarFault, barFaultOf, type FeedBar, moveBetween, reportedBar, type StoredBar } from './bar.ts'

export interface MarketCommand {
  readonly kind: 'observe-bars'
  readonly observation: Observation
}

/** Stores valid bars. Invalid bars are refused with a reason, never repaired. */
export const decideMarket = (
  { market }: { readonly market: Market },
  { observation: { feed, bars } }: MarketCommand,
  context: DecisionContext,
): Decision => accept(...bars.flatMap((bar) => observed(market, bar, feed, context)))

interface Observation {
  /** Name of the feed. */
  readonly feed: string
  /** Bars of one close time, each symbol at most once. */
  readonly bars: readonly FeedBar[]
}

/** Largest distance of a second bar that confirms a jump. */
const CONFIRMING_MOVE_MAX = 0.1

const observed = (
  market: Market,
  bar: FeedBar,
  feed: string,
  { now, configuration }: DecisionContext,
): readonly NewEvent[] => {
  // A larger jump needs a second bar that confirms it.
  const moveMax = configuration.market.max_bar_move_pct
  const known = market.symbols.get(canonicalSymbol(bar.symbol))
  const nowMs = Date.parse(now)
  const isCredible = ({ close_ts }: StoredBar): boolean => !isFromFuture(Date.parse(close_ts), nowMs)
  const held = known !== undefined && known.held !== null && isCredible(known.held) ? known.held : null
  const last = held ?? known?.last ?? null
  // A bar from the future is not used as the last one: every later bar would be out of order, and a wrong clock would
  // end the prices of a symbol.
  const fault = barFaultOf(bar, last !== null && isCredible(last) ? last : null, nowMs)
  if (fault !== null) return [refused(bar, fault)]
  if (known === undefined) return [barEvent(bar, feed, null)]
  const { repeatedUntil } = known
  if (isOpenAstray(bar, last, moveMax)) return [refused(bar, 'price_jump')]
  const close = priceFrom(bar.close)
  if (held !== null && moveBetween(held.close, close) <= CONFIRMING_MOVE_MAX) {
    return [barEvent(reportedBar(held), feed, repeatedUntil), barEvent(bar, feed, repeatedUntil)]
  }
  const dropped = held === null ? [] : [refused(held, 'price_jump')]
  const taken =
    moveBetween(known.last.close, close) > moveMax
      ? heldEvent(bar, feed)
      : barEvent(bar, feed, isCredible(known.last) ? repeatedUntil : known.last.open_ts)
  return [...dropped, taken]
}

/** Whether the open is far from both the last close and its own close. No stop may fill at such a price. */
const isOpenAstray = (bar: FeedBar, last: StoredBar | null, moveMax: number): boolean => {
  const [open, close] = [priceFrom(bar.open), priceFrom(bar.close)]
  return last !== null && moveBetween(last.close, open) > moveMax && moveBetween(close, open) > moveMax
}

/** `repeatedUntil`: a wrong clock may have stored bars up to this time already. */
const barEvent = (bar: FeedBar, feed: string, repeatedUntil: string | null): NewEvent => ({
  type: 'market.bar.v1',
  source: 'market',
  ts: timestampOf(bar.close_ts),
  dedupeKey: [
    `bar:${feed}:${bar.symbol}:${bar.resolution_s}:${bar.open_ts}`,
    ...(repeatedUntil !== null && bar.open_ts <= repeatedUntil ? [`after:${repeatedUntil}`] : []),
  ].join(':'),
  payload: { ...bar, feed },
})

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
