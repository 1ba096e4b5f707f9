import { priceTrustOf } from '../signals/prices.ts'
import type { NewEvent } from '../events/catalogue.ts'
import { exitEvents } from './exits.ts'
import { markOf } from '../market/readings.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import { openPositionsOf, positionsOf, type Portfolio } from './book.ts'
import { monitored, quoted, unseen, type Finding, type MonitorRules, type PriceSeen } from './monitor.ts'
import type { Position } from './positions.ts'
import { accept, type Decision } from '../shared/decision.ts'
import { unitsFrom } from '../shared/money.ts'
import type { TradingFacts } from './evolve.ts'

/** A bar was stored: the positions of its symbol are held against it. */
export const watchBar = (
  facts: TradingFacts,
  symbol: string,
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
  readonly symbol: string
  readonly price: number
  readonly ts: string
  readonly producer: string
}

/** The same for a price that a producer told, if it is one that may be traded on. */
export const watchQuote = (
  facts: TradingFacts,
  { symbol, price, ts, producer }: Quoted,
  context: DecisionContext,
): Decision => {
  const positions = positionsOf(facts.trading, symbol)
  if (positions.length === 0) return accept()
  const trust = priceTrustOf(facts, context.configuration)
  const nowMs = Date.parse(context.now)
  const mark = markOf(facts.market, symbol, nowMs, trust)
  if (mark?.price !== price || !trust.producers.includes(producer)) return accept()
  const rules = monitorRules(facts, context)
  const { max_bar_move_pct: moveMax } = context.configuration.market
  const believable = positions.filter(
    (position) => !isAbsurd(position, price, { moveMax, oldMs: nowMs - trust.maxAgeMs }),
  )
  return accept(
    ...believable.flatMap((position) => [
      quoted(position, price),
      ...eventsOf(facts, monitored(position, { kind: 'quote', price, ts }, rules), context),
    ]),
  )
}

export interface FeedTick {
  readonly symbol: string
  readonly price: number
  readonly ts: string
  /** An earlier price as far away from all others, if there was one: together they are believed. */
  readonly confirms: number | null
}

/** A price of the feed between two bars. Only one that ends a position is recorded, as what set it off. */
export const observeTick = (facts: TradingFacts, tick: FeedTick, context: DecisionContext): Decision => {
  const rules = monitorRules(facts, context)
  const { price, ts } = tick
  const findings = positionsOf(facts.trading, tick.symbol)
    .filter((position) => isBelieved(position, tick, context))
    .map((position) => ({ position, finding: monitored(position, { kind: 'tick', price, ts }, rules) }))
    .filter(({ finding }) => finding.kind === 'exit' || isAlarm(finding))
  return accept(
    ...findings.flatMap(({ position, finding }) =>
      finding.kind === 'exit'
        ? [quoted(position, price), ...eventsOf(facts, finding, context)]
        : eventsOf(facts, finding, context),
    ),
  )
}

/** Whether a price of the feed reaches the stop or the target of a position; the rest can wait for the bar. */
export const reachesLevel = (facts: Portfolio, symbol: string, price: number): boolean => {
  const units = unitsFrom(price)
  return positionsOf(facts, symbol).some(({ status, terms, holding }) => {
    if (status === 'closing') return false
    const [lower, upper] =
      terms.direction === 'long'
        ? [holding.stopLoss, holding.takeProfit]
        : [holding.takeProfit, holding.stopLoss]
    return (lower !== null && units <= lower) || (upper !== null && units >= upper)
  })
}

/** How near a second price has to be to confirm a jump. */
const CONFIRMING_MOVE_MAX = 0.1

const isBelieved = (
  position: Position,
  { price, confirms }: FeedTick,
  { now, configuration: { market } }: DecisionContext,
): boolean => {
  const oldMs = Date.parse(now) - market.max_mark_age_seconds * 1000
  if (!isAbsurd(position, price, { moveMax: market.max_bar_move_pct, oldMs })) return true
  return confirms !== null && Math.abs(price / confirms - 1) <= CONFIRMING_MOVE_MAX
}

const isAlarm = (finding: Finding): boolean =>
  finding.kind === 'note' && finding.event.type !== 'execution.position_updated.v1'

/** At a start, when a lockdown ends, and every minute: by the last price, or by its absence. */
export const checkPositions = (facts: TradingFacts, context: DecisionContext): Decision => {
  const rules = monitorRules(facts, context)
  const oldMs = Date.parse(context.now) - context.configuration.market.max_mark_age_seconds * 1000
  return accept(
    ...openPositionsOf(facts.trading).flatMap((position) => {
      const { price, atMs } = position.mark
      if (atMs < oldMs) return eventsOf(facts, unseen(position, rules), context)
      const ts = new Date(atMs).toISOString()
      return eventsOf(facts, checked(position, { kind: 'mark', price, ts }, rules), context)
    }),
  )
}

/** The price was looked at when it came: only what ends a position, or an alarm to repeat, is new. */
const checked = (position: Position, seen: PriceSeen, rules: MonitorRules): Finding => {
  const finding = monitored(position, seen, rules)
  const isStatus = finding.kind === 'note' && finding.event.type === 'execution.position_updated.v1'
  return isStatus ? { kind: 'nothing' } : finding
}

const eventsOf = (facts: TradingFacts, finding: Finding, context: DecisionContext): readonly NewEvent[] => {
  switch (finding.kind) {
    case 'exit':
      return exitEvents(facts, finding.exit, context)
    case 'note':
      return [finding.event]
    case 'nothing':
      return []
  }
}

/** One price far from all others proves nothing; it is believed once nobody contradicts it for long enough. */
const isAbsurd = (
  { mark }: Position,
  price: number,
  { moveMax, oldMs }: { readonly moveMax: number; readonly oldMs: number },
): boolean => mark.atMs >= oldMs && Math.abs(price / mark.price - 1) > moveMax

const monitorRules = (
  { trading: { killSwitch } }: TradingFacts,
  { now, configuration }: DecisionContext,
): MonitorRules => {
  const { execution, alerts } = configuration
  return {
    now,
    level: killSwitch.level,
    timeStopHours: execution.time_stop_hours,
    timeStopLossPct: execution.time_stop_loss_pct,
    maxHoldingHours: execution.max_holding_hours,
    degradeAt: execution.degrade_at,
    alertRepeatSeconds: alerts.repeat_seconds,
  }
}
