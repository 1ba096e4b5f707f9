import type { NewEvent } from '../events/catalogue.ts'
import type { KillSwitchLevel } from '../shared/level.ts'
import { unitsFrom, unitsNumber, usdNumber, type Price } from '../shared/money.ts'
import { returnAt } from './marking.ts'
import type { ExitReason, Position, PositionStatus, Trigger } from './positions.ts'

/** A price that positions are held against. A plain price has one value, a bar has a range. */
export type PriceSeen =
  | {
      readonly kind: 'bar'
      readonly open: number
      readonly high: number
      readonly low: number
      readonly close: number
      readonly openTs: string
      readonly ts: string
    }
  | { readonly kind: 'quote' | 'mark' | 'tick'; readonly price: number; readonly ts: string }

export interface MonitorRules {
  readonly now: string
  readonly level: KillSwitchLevel
  readonly timeStopHours: number
  readonly timeStopLossPct: number
  readonly maxHoldingHours: number
  readonly degradeAt: number
  readonly alertRepeatSeconds: number
}

export interface Exit {
  readonly position: Position
  readonly reason: ExitReason
  /** Before slippage. */
  readonly basePrice: Price
  readonly trigger: Trigger | null
}

/** What a price means for a position. */
export type Finding =
  | { readonly kind: 'exit'; readonly exit: Exit }
  | { readonly kind: 'note'; readonly event: NewEvent }
  | { readonly kind: 'nothing' }

export const monitored = (position: Position, seen: PriceSeen, rules: MonitorRules): Finding => {
  if (position.status === 'closing' || position.terms.isAdopted) return NOTHING
  const exit = exitOf(position, seen, rules)
  const isBlocked = rules.level === LOCKDOWN
  if (exit !== null && !isBlocked) return { kind: 'exit', exit }
  if (isBlocked && (exit !== null || position.alarm !== null)) return blocked(position, exit, seen, rules)
  const status = statusAt(position, lastPrice(seen), rules)
  return status === position.status ? NOTHING : noteOf(position, { status, reason: WHY[status] ?? status })
}

/** Nobody told a price for too long: it is watched as one that goes wrong. */
export const unseen = (position: Position, rules: MonitorRules): Finding => {
  if (rules.level === LOCKDOWN && position.alarm !== null) {
    const seen = { kind: 'mark', price: position.mark.price, ts: rules.now } as const
    return blocked(position, null, seen, rules)
  }
  return position.status === 'monitoring'
    ? noteOf(position, { status: 'degrading', reason: 'mark_too_old' })
    : NOTHING
}

/** A price that no bar tells moves the mark of a position by an event of its own. */
export const quoted = (position: Position, price: number): NewEvent =>
  updateOf(position, { status: position.status, reason: 'price', markPrice: price })

export const updateOf = (
  position: Position,
  {
    status,
    reason,
    markPrice = null,
  }: {
    readonly status: PositionStatus
    readonly reason: string
    readonly markPrice?: number | null
  },
): NewEvent => ({
  type: 'execution.position_updated.v1',
  source: 'oms',
  payload: {
    position_id: position.id,
    status,
    stop_loss: levelNumber(position.holding.stopLoss),
    take_profit: levelNumber(position.holding.takeProfit),
    reason,
    quantity: unitsNumber(position.holding.quantity),
    loss_at_stop_usd: usdNumber(position.holding.lossAtStop),
    mark_price: markPrice,
  },
})

/** The alarm that belongs to an exit; only stops and targets have one. */
export const exitAlert = (
  { position, reason, trigger }: Pick<Exit, 'position' | 'reason' | 'trigger'>,
  {
    realized,
    repeat,
    markPrice,
  }: {
    readonly realized: number | null
    readonly repeat: number
    readonly markPrice: number
  },
): NewEvent => {
  const { asset, direction } = position.terms
  const isTarget = reason === 'take_profit'
  const what = isTarget ? 'Target' : reason === 'time_stop' ? 'Time stop' : 'Stop'
  const outcome =
    realized === null
      ? 'the kill switch blocks the exit, an operator has to act'
      : `closed with ${realized} USD`
  const common = {
    urgency: 'immediate' as const,
    message: `${what} of ${direction} ${asset} hit at ${trigger?.price ?? markPrice}: ${outcome}`,
    position_id: position.id,
    symbol: asset,
    direction,
    entry_price: unitsNumber(position.holding.entryPrice),
    mark_price: markPrice,
    realized_pnl: realized,
    repeat,
  }
  return isTarget
    ? {
        type: 'alert.target_hit',
        source: 'alerts',
        payload: { ...common, take_profit: levelNumber(position.holding.takeProfit) },
      }
    : {
        type: 'alert.stop_triggered',
        source: 'alerts',
        payload: { ...common, stop_loss: levelNumber(position.holding.stopLoss) },
      }
}

const lastPrice = (seen: PriceSeen): number => (seen.kind === 'bar' ? seen.close : seen.price)

const LOCKDOWN = 3
const HOUR_MS = 3_600_000
const NOTHING: Finding = { kind: 'nothing' }
const WHY: Partial<Record<PositionStatus, string>> = {
  monitoring: 'watched',
  degrading: 'stop_distance_lost',
}

/** First match: stop, target, time. */
const exitOf = (position: Position, seen: PriceSeen, rules: MonitorRules): Exit | null => {
  const { stopLoss, takeProfit } = position.holding
  const isLong = position.terms.direction === 'long'
  const atStop = stopLoss === null ? null : reached(position, seen, stopLoss, isLong ? 'below' : 'above')
  if (atStop !== null) return exitAt(position, 'stop_loss', atStop, seen)
  const atTarget =
    takeProfit === null ? null : reached(position, seen, takeProfit, isLong ? 'above' : 'below')
  if (atTarget !== null) return exitAt(position, 'take_profit', atTarget, seen)
  return isOverdue(position, seen, rules)
    ? exitAt(position, 'time_stop', unitsFrom(lastPrice(seen)), seen)
    : null
}

/** The price at which a level was met; null if it was not. */
const reached = (
  position: Position,
  seen: PriceSeen,
  level: Price,
  beyond: 'below' | 'above',
): Price | null => {
  const isBeyond = (price: Price): boolean => (beyond === 'below' ? price <= level : price >= level)
  if (seen.kind !== 'bar' || position.terms.openedAt > seen.openTs) {
    const price = unitsFrom(lastPrice(seen))
    return isBeyond(price) ? price : null
  }
  const open = unitsFrom(seen.open)
  // A gap: nobody could have had the level itself.
  if (isBeyond(open)) return open
  return isBeyond(unitsFrom(beyond === 'below' ? seen.low : seen.high)) ? level : null
}

const isOverdue = (position: Position, seen: PriceSeen, rules: MonitorRules): boolean => {
  const ageHours = (Date.parse(seen.ts) - Date.parse(position.terms.openedAt)) / HOUR_MS
  if (ageHours >= rules.maxHoldingHours) return true
  return ageHours >= rules.timeStopHours && returnAt(position, lastPrice(seen)) <= -rules.timeStopLossPct
}

const exitAt = (position: Position, reason: ExitReason, basePrice: Price, seen: PriceSeen): Exit => ({
  position,
  reason,
  basePrice,
  trigger: { kind: seen.kind, price: unitsNumber(basePrice), ts: seen.ts },
})

/** Under lockdown nothing is sent; it is said again and again until an operator acts. */
const blocked = (position: Position, exit: Exit | null, seen: PriceSeen, rules: MonitorRules): Finding => {
  const { alarm } = position
  const isDue =
    alarm === null || Date.parse(rules.now) - Date.parse(alarm.at) >= rules.alertRepeatSeconds * 1000
  if (!isDue) return NOTHING
  const reason = exit?.reason ?? (alarm?.reason === 'target' ? 'take_profit' : 'stop_loss')
  const event = exitAlert(
    { position, reason, trigger: exit?.trigger ?? null },
    { realized: null, repeat: alarm === null ? 0 : alarm.repeat + 1, markPrice: lastPrice(seen) },
  )
  return { kind: 'note', event }
}

const statusAt = (position: Position, price: number, { degradeAt }: MonitorRules): PositionStatus => {
  const { status, holding } = position
  if (status === 'open') return holding.isEntryDone ? 'monitoring' : 'open'
  if (holding.stopLoss === null) return 'monitoring'
  const distance = -returnAt(position, unitsNumber(holding.stopLoss))
  return -returnAt(position, price) >= degradeAt * distance ? 'degrading' : 'monitoring'
}

const noteOf = (
  position: Position,
  change: { readonly status: PositionStatus; readonly reason: string },
): Finding => ({ kind: 'note', event: updateOf(position, change) })

const levelNumber = (level: Price | null): number | null => (level === null ? null : unitsNumber(level))
