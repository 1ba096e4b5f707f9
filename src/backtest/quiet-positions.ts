import type { Configuration } from '../core/config/schema.ts'
import type { FeedBar } from '../core/market/bar.ts'
import { notionalOf, priceFrom, priceNumber, type Direction, type Quantity } from '../core/shared/money.ts'
import {
  isAdopted,
  markedAt,
  returnAt,
  type HeldPosition,
  type OpenPosition,
} from '../core/trading/positions/positions.ts'

/** The prices between which nothing happens to a position, and where it stands. */
export interface WatchedPosition {
  position: OpenPosition
  readonly direction: Direction
  readonly openedMs: number
  /** A bar that stays strictly within these ends nothing. */
  readonly lowAbove: number
  readonly highBelow: number
  /** Around the close at which most of the distance to the stop is lost: between them rounding could decide. */
  readonly degradedBelow: number
  readonly degradedAbove: number
  readonly hasStop: boolean
  /** From `lateFromMs` on these limits hold as well; from `endsMs` on nothing is quiet. */
  readonly lateFromMs: number
  readonly lateCloseAbove: number
  readonly lateCloseBelow: number
  readonly endsMs: number
  readonly quantity: Quantity
  /** In whole units. */
  readonly units: number
  status: HeldPosition['status']
  /** In millionths of a USD. */
  exposure: number
  /** After the bar that is looked at. */
  nextStatus: HeldPosition['status']
  nextExposure: number
  /** Over the bars that were taken; infinite before the first. */
  lowest: number
  highest: number
}

type ExecutionRules = Pick<
  Configuration['execution'],
  'degrade_at' | 'time_stop_hours' | 'time_stop_loss_pct' | 'max_holding_hours'
>

const HOUR_MS = 3_600_000

/** Null for a position that the deciders have to look at with every bar. */
export const watchedPosition = (position: OpenPosition, rules: ExecutionRules): WatchedPosition | null => {
  const { status, terms, holding } = position
  if (status === 'closing' || isAdopted(position) || position.blockedExit !== null) return null
  if (status === 'open' && !holding.isEntryDone) return null
  // Its stop moves with every better price.
  if (terms.trailingPct !== undefined) return null
  const { stopLoss, takeProfit } = holding
  const isLong = terms.direction === 'long'
  const entry = priceNumber(holding.entryPrice)
  const worse = (share: number): number => entry * (isLong ? 1 - share : 1 + share)
  const late = worse(rules.time_stop_loss_pct)
  const [below, above] = isLong ? [stopLoss, takeProfit] : [takeProfit, stopLoss]
  const openedMs = Date.parse(terms.openedAt)
  const degradedAt = stopLoss === null ? 0 : worse(rules.degrade_at * -returnAt(position, stopLoss))
  const exposure = Number(position.mark.exposure)
  return {
    position,
    direction: terms.direction,
    openedMs,
    lowAbove: below === null ? -Infinity : clearlyAbove(priceNumber(below)),
    highBelow: above === null ? Infinity : clearlyBelow(priceNumber(above)),
    degradedBelow: clearlyBelow(degradedAt),
    degradedAbove: clearlyAbove(degradedAt),
    hasStop: stopLoss !== null,
    lateFromMs: openedMs + rules.time_stop_hours * HOUR_MS - 1,
    lateCloseAbove: isLong ? clearlyAbove(late) : -Infinity,
    lateCloseBelow: isLong ? Infinity : clearlyBelow(late),
    endsMs: openedMs + rules.max_holding_hours * HOUR_MS - 1,
    quantity: holding.quantity,
    units: Number(holding.quantity),
    status,
    exposure,
    nextStatus: status,
    nextExposure: exposure,
    lowest: Infinity,
    highest: -Infinity,
  }
}

/** Whether a bar changes nothing but the mark, and perhaps how closely the position is watched. */
export const isQuietFor = (
  watched: WatchedPosition,
  bar: FeedBar,
  openMs: number,
  closeMs: number,
): boolean => {
  const { close } = bar
  if (watched.openedMs > openMs || closeMs >= watched.endsMs) return false
  if (bar.low <= watched.lowAbove || bar.high >= watched.highBelow) return false
  const status = statusAt(watched, close)
  if (status === null) return false
  watched.nextStatus = status
  return closeMs < watched.lateFromMs || (close > watched.lateCloseAbove && close < watched.lateCloseBelow)
}

/** Null where rounding could decide. */
const statusAt = (
  { status, direction, hasStop, degradedBelow, degradedAbove }: WatchedPosition,
  close: number,
): HeldPosition['status'] | null => {
  if (status === 'open' || !hasStop) return 'monitoring'
  if (close > degradedAbove) return direction === 'long' ? 'monitoring' : 'degrading'
  if (close < degradedBelow) return direction === 'long' ? 'degrading' : 'monitoring'
  return null
}

/** Amounts below are exact as plain numbers, and so are their sums and their values in USD. */
export const AMOUNT_MAX = 1e15

const UNIT_SCALE = 100_000_000
const PRODUCT_PER_USD = 10_000_000_000
/** Below, the plain product is off by less than a thousandth. */
const PLAIN_MAX = 1e12
const NEARLY_HALF = 1e-3

/** What the position is worth at a close, in millionths of a USD: the same as `notionalOf`, mostly in plain numbers. */
export const exposureAt = (
  { quantity, units }: Pick<WatchedPosition, 'quantity' | 'units'>,
  close: number,
): number => {
  const exposure = (Math.round(close * UNIT_SCALE) * units) / PRODUCT_PER_USD
  const whole = Math.floor(exposure)
  const rest = exposure - whole
  // So near to a half rounding could decide.
  if (exposure < PLAIN_MAX && Math.abs(rest - 0.5) > NEARLY_HALF) return rest > 0.5 ? whole + 1 : whole
  return Number(notionalOf(priceFrom(close), quantity))
}

/** What a change of its worth brings. */
export const gainOf = ({ direction, exposure, nextExposure }: WatchedPosition): number =>
  direction === 'long' ? nextExposure - exposure : exposure - nextExposure

/** The position at the last close, with the extremes on the way. */
export const markedTo = (
  { position, status, lowest, highest }: WatchedPosition,
  close: number,
  atMs: number,
): OpenPosition => {
  const marked = markedAt(position, {
    price: priceFrom(close),
    atMs,
    low: priceFrom(lowest),
    high: priceFrom(highest),
  })
  return marked.status === 'closing' || marked.status === status ? marked : { ...marked, status }
}

/** Prices are compared in whole units: so near a limit the deciders decide. */
const slackAt = (price: number): number => 2e-8 + price * 1e-9

const clearlyAbove = (price: number): number => price + slackAt(price)

const clearlyBelow = (price: number): number => price - slackAt(price)
