import { timestampAt, hasPassed, isFromFuture, msOf } from '../../shared/time.ts'
import type { Configuration } from '../../config/schema.ts'
import type { NewEvent } from '../../events/catalogue.ts'
import type { Timestamp, CanonicalSymbol } from '../../shared/brand.ts'
import { accept, type Decision } from '../../shared/decision.ts'
import type { DecisionContext } from '../../shared/decision-context.ts'
import { blocksExits, type KillSwitchLevel } from '../../shared/level.ts'
import { priceNumber, ratioOf, type Price } from '../../shared/money.ts'
import { markOf } from '../../market/readings.ts'
import { priceTrustOf } from '../../signals/prices.ts'
import type { TradingFacts } from '../evolve.ts'
import { exitAlert, exitEvents, type Exit } from './exits.ts'
import { unroutedAlerts } from '../venue/unrouted.ts'
import { trailedStop } from '../orders/fills.ts'
import { openPositionsOf, positionsOf, type Portfolio } from './book.ts'
import {
  isAdopted,
  leftOf,
  quantityLeft,
  returnAt,
  updateOf,
  type ExitReason,
  type HeldPosition,
  type OpenPosition,
} from './positions.ts'

/** A price that positions are compared with. A bar has a range; any other price is one value. */
export type PriceSeen =
  | {
      readonly kind: 'bar'
      readonly open: Price
      readonly high: Price
      readonly low: Price
      readonly close: Price
      readonly openTs: Timestamp
      readonly ts: Timestamp
    }
  | { readonly kind: 'quote' | 'mark' | 'tick'; readonly price: Price; readonly ts: Timestamp }

/** Compares a stored bar with the positions of its symbol. */
export const watchBar = (
  facts: TradingFacts,
  symbol: CanonicalSymbol,
  seen: PriceSeen,
  context: DecisionContext,
): Decision => {
  const positions = positionsOf(facts.trading, symbol)
  if (positions.length === 0) return accept()
  const rules = monitorRules(facts, context)
  return accept(
    ...positions.flatMap((position) => eventsOf(facts, monitored(position, seen, rules), context)),
  )
}

export interface Quoted {
  readonly symbol: CanonicalSymbol
  readonly price: Price
  readonly ts: Timestamp
  readonly producer: string
}

/** Like `watchBar`, for a price that a producer reports, if its prices may be traded on. */
export const watchQuote = (
  facts: TradingFacts,
  { symbol, price, ts, producer }: Quoted,
  context: DecisionContext,
): Decision => {
  const positions = positionsOf(facts.trading, symbol)
  if (positions.length === 0) return accept()
  const trust = priceTrustOf(facts, context.configuration)
  const mark = markOf(facts.market, symbol, Date.parse(context.now), trust)
  if (mark?.price !== price || !trust.producers.includes(producer)) return accept()
  const rules = monitorRules(facts, context)
  return accept(
    ...positions.flatMap((position) =>
      isImplausible(position, price, context)
        ? []
        : [
            priceUpdate(position, price),
            ...eventsOf(facts, monitored(position, { kind: 'quote', price, ts }, rules), context),
          ],
    ),
  )
}

export interface FeedTick {
  readonly symbol: CanonicalSymbol
  readonly price: Price
  readonly ts: Timestamp
  /** The price before it, if that price reached a level too; else null. Two prices close to each other confirm a jump. */
  readonly confirms: Price | null
}

/** Compares a price of the feed between two bars. Only a price that closes a position is recorded, as its trigger. */
export const observeTick = (facts: TradingFacts, tick: FeedTick, context: DecisionContext): Decision => {
  const rules = monitorRules(facts, context)
  const { price, ts, confirms } = tick
  const isConfirmed = confirms !== null && Math.abs(ratioOf(price, confirms) - 1) <= CONFIRMING_MOVE_MAX
  return accept(
    ...positionsOf(facts.trading, tick.symbol)
      .filter((position) => isConfirmed || !isImplausible(position, price, context))
      .flatMap((position) => {
        const finding = monitored(position, { kind: 'tick', price, ts }, rules)
        if (finding.kind === 'status') return []
        const events = eventsOf(facts, finding, context)
        return finding.kind === 'exit' ? [priceUpdate(position, price), ...events] : events
      }),
  )
}

/** Whether a price of the feed reaches the stop or target of a position. Everything else can wait for the bar. */
export const reachesLevel = (portfolio: Portfolio, symbol: CanonicalSymbol, price: Price): boolean =>
  positionsOf(portfolio, symbol).some(({ status, terms, holding }) => {
    if (status === 'closing') return false
    const [lower, upper] =
      terms.direction === 'long'
        ? [holding.stopLoss, holding.takeProfit]
        : [holding.takeProfit, holding.stopLoss]
    return (lower !== null && price <= lower) || (upper !== null && price >= upper)
  })

/** Compares positions with the last price, or with its absence: at a start, when a lockdown ends, and every minute. */
export const checkPositions = (facts: TradingFacts, context: DecisionContext): Decision => {
  const rules = monitorRules(facts, context)
  const nowMs = msOf(context.now)
  return accept(
    ...openPositionsOf(facts.trading).flatMap((position) => {
      if (isMarkOld(position, context)) return eventsOf(facts, unpriced(position, rules), context)
      const { price, atMs } = position.mark
      const ts = atMs === nowMs ? context.now : timestampAt(atMs)
      const finding = atGivenPrice(monitored(position, { kind: 'mark', price, ts }, rules), context)
      // Changes of status were recorded when the price arrived.
      return finding.kind === 'status' ? [] : eventsOf(facts, finding, context)
    }),
    ...unroutedAlerts(facts.trading, context),
  )
}

/**
 * A backtest passes the prices at which orders can be filled now. An exit is filled at its price, or waits if there is
 * none.
 */
const atGivenPrice = (finding: Finding, { prices, now }: DecisionContext): Finding => {
  if (finding.kind !== 'exit') return finding
  const { exit } = finding
  const given = prices?.get(exit.position.terms.asset)
  if (given === undefined) return finding
  if (given === null) return NOTHING
  const trigger = { kind: 'mark', price: priceNumber(given.price), ts: now } as const
  return { kind: 'exit', exit: { ...exit, basePrice: given.price, trigger } }
}

/** Largest distance of a second price that confirms a jump. */
const CONFIRMING_MOVE_MAX = 0.1

/** A single price far from the mark is not trusted, unless the mark is too old to contradict it. */
const isImplausible = (position: OpenPosition, price: Price, context: DecisionContext): boolean =>
  !isMarkOld(position, context) &&
  Math.abs(ratioOf(price, position.mark.price) - 1) > context.configuration.market.max_bar_move_pct

const isMarkOld = ({ mark }: OpenPosition, { now, configuration: { market } }: DecisionContext): boolean =>
  mark.atMs < msOf(now) - market.max_mark_age_seconds * 1000 || isFromFuture(mark.atMs, msOf(now))

interface MonitorRules extends Pick<Configuration, 'execution' | 'alerts'> {
  readonly now: Timestamp
  readonly level: KillSwitchLevel
}

const monitorRules = (
  { trading: { killSwitch } }: TradingFacts,
  { now, configuration: { execution, alerts } }: DecisionContext,
): MonitorRules => ({ now, level: killSwitch.level, execution, alerts })

/** Consequence of a price for a position. */
type Finding =
  | { readonly kind: 'exit'; readonly exit: Exit }
  | { readonly kind: 'alert'; readonly event: NewEvent }
  | { readonly kind: 'status'; readonly event: NewEvent }
  | { readonly kind: 'nothing' }

const NOTHING: Finding = { kind: 'nothing' }

const eventsOf = (facts: TradingFacts, finding: Finding, context: DecisionContext): readonly NewEvent[] => {
  switch (finding.kind) {
    case 'exit':
      return exitEvents(facts, finding.exit, context)
    case 'alert':
    case 'status':
      return [finding.event]
    case 'nothing':
      return []
  }
}

const monitored = (position: OpenPosition, seen: PriceSeen, rules: MonitorRules): Finding => {
  if (position.status === 'closing' || isAdopted(position)) return NOTHING
  const exit = exitOf(position, seen, rules)
  if (blocksExits(rules.level) && (exit !== null || position.blockedExit !== null)) {
    return blockedFinding(position, exit, seen, rules)
  }
  if (exit !== null) return { kind: 'exit', exit }
  const status = statusAt(position, lastPrice(seen), rules)
  const trailed = trailedBy(position, seen, rules)
  if (trailed !== null) {
    const moved = { ...position, holding: { ...position.holding, ...trailed } }
    return { kind: 'status', event: updateOf(moved, { status, reason: 'trailing' }) }
  }
  if (status === position.status) return NOTHING
  const reason = status === 'degrading' ? 'stop_distance_lost' : status === 'monitoring' ? 'watched' : status
  return { kind: 'status', event: updateOf(position, { status, reason }) }
}

/** Bars move a trailing stop. The moved stop applies to the bars after them. */
const trailedBy = (position: HeldPosition, seen: PriceSeen, rules: MonitorRules) => {
  const {
    terms: { direction, trailingPct },
    holding: { stopLoss: stop },
  } = position
  if (trailingPct === undefined || stop === null || seen.kind !== 'bar') return null
  const extreme = direction === 'long' ? seen.high : seen.low
  const best = wasOpenAllAlong(position, seen, rules.now) ? extreme : seen.close
  const held = { quantity: quantityLeft(position), notional: leftOf(position, position.holding.notional) }
  return trailedStop({ direction, trailingPct, stop, ...held }, best, rules.execution)
}

/** Without a price for too long, the position is treated as degrading. */
const unpriced = (position: OpenPosition, rules: MonitorRules): Finding => {
  if (position.status === 'closing') return NOTHING
  if (blocksExits(rules.level) && position.blockedExit !== null) {
    const seen = { kind: 'mark', price: position.mark.price, ts: rules.now } as const
    return blockedFinding(position, null, seen, rules)
  }
  return position.status === 'monitoring'
    ? { kind: 'status', event: updateOf(position, { status: 'degrading', reason: 'mark_too_old' }) }
    : NOTHING
}

/** The first exit that applies: stop, target, time. */
const exitOf = (position: HeldPosition, seen: PriceSeen, rules: MonitorRules): Exit | null => {
  const { stopLoss, takeProfit } = position.holding
  const isLong = position.terms.direction === 'long'
  const meets = (level: Price, beyond: 'below' | 'above'): Price | null =>
    reached(seen, level, beyond, wasOpenAllAlong(position, seen, rules.now))
  const atStop = stopLoss === null ? null : meets(stopLoss, isLong ? 'below' : 'above')
  if (atStop !== null) return exitAt(position, 'stop_loss', atStop, seen)
  const atTarget = takeProfit === null ? null : meets(takeProfit, isLong ? 'above' : 'below')
  if (atTarget !== null) return exitAt(position, 'take_profit', atTarget, seen)
  return isOverdue(position, seen, rules) ? exitAt(position, 'time_stop', lastPrice(seen), seen) : null
}

/**
 * Whether the whole bar counts. A position with an opening time in the future, from a wrong clock, was open before the
 * bar.
 */
const wasOpenAllAlong = ({ terms: { openedAt } }: HeldPosition, seen: PriceSeen, now: Timestamp): boolean =>
  seen.kind === 'bar' && (openedAt <= seen.openTs || isFromFuture(Date.parse(openedAt), Date.parse(now)))

/** Price at which a level was reached; null if it was not. */
const reached = (
  seen: PriceSeen,
  level: Price,
  beyond: 'below' | 'above',
  isWholeBar: boolean,
): Price | null => {
  const isBeyond = (price: Price): boolean => (beyond === 'below' ? price <= level : price >= level)
  if (seen.kind !== 'bar' || !isWholeBar) {
    const price = lastPrice(seen)
    return isBeyond(price) ? price : null
  }
  // After a gap, the level itself could not be traded.
  if (isBeyond(seen.open)) return seen.open
  return isBeyond(beyond === 'below' ? seen.low : seen.high) ? level : null
}

const isOverdue = (position: HeldPosition, seen: PriceSeen, { execution }: MonitorRules): boolean => {
  const ageHours = (msOf(seen.ts) - msOf(position.terms.openedAt)) / HOUR_MS
  if (ageHours >= execution.max_holding_hours) return true
  return (
    ageHours >= execution.time_stop_hours &&
    returnAt(position, lastPrice(seen)) <= -execution.time_stop_loss_pct
  )
}

const HOUR_MS = 3_600_000

const exitAt = (position: HeldPosition, reason: ExitReason, basePrice: Price, seen: PriceSeen): Exit => ({
  position,
  reason,
  basePrice,
  trigger: { kind: seen.kind, price: priceNumber(basePrice), ts: seen.ts },
})

/** Under lockdown nothing is sent. The alert repeats until an operator acts. */
const blockedFinding = (
  position: HeldPosition,
  exit: Exit | null,
  seen: PriceSeen,
  rules: MonitorRules,
): Finding => {
  const { blockedExit: before } = position
  const isDue = before === null || hasPassed(rules.alerts.repeat_seconds * 1000, before.at, rules.now)
  if (!isDue) return NOTHING
  const reason = exit?.reason ?? (before?.reason === 'target' ? 'take_profit' : 'stop_loss')
  const event = exitAlert(
    { position, reason, trigger: exit?.trigger ?? null },
    {
      realized: null,
      repeat: before === null ? 0 : before.repeat + 1,
      markPrice: priceNumber(lastPrice(seen)),
    },
  )
  return { kind: 'alert', event }
}

const statusAt = (
  position: HeldPosition,
  price: Price,
  { execution }: MonitorRules,
): HeldPosition['status'] => {
  const { status, holding } = position
  if (status === 'open') return holding.isEntryDone ? 'monitoring' : 'open'
  if (holding.stopLoss === null) return 'monitoring'
  const distance = -returnAt(position, holding.stopLoss)
  return -returnAt(position, price) >= execution.degrade_at * distance ? 'degrading' : 'monitoring'
}

const lastPrice = (seen: PriceSeen): Price => (seen.kind === 'bar' ? seen.close : seen.price)

/** Event that moves the mark of a position to a price that no bar carries. */
const priceUpdate = (position: OpenPosition, price: Price): NewEvent =>
  updateOf(position, { status: position.status, reason: 'price', markPrice: price })
