import type { Configuration } from '../core/config/schema.ts'
import type { FeedBar } from '../core/market/bar.ts'
import { minus, priceFrom, priceNumber, signed, type Direction, type Usd } from '../core/shared/money.ts'
import {
  isAdopted,
  markedAt,
  returnAt,
  type HeldPosition,
  type OpenPosition,
} from '../core/trading/positions.ts'

/** The prices between which nothing happens to a position, and where it stands. */
export interface WatchedPosition {
  position: OpenPosition
  readonly direction: Direction
  readonly openedMs: number
  /** A bar that stays strictly within these ends nothing. */
  readonly lowAbove: number
  readonly highBelow: number
  /** The close at which most of the distance to the stop is lost; null without a stop. */
  readonly degradedAt: number | null
  /** From `lateFromMs` on these limits hold as well; from `endsMs` on nothing is quiet. */
  readonly lateFromMs: number
  readonly lateCloseAbove: number
  readonly lateCloseBelow: number
  readonly endsMs: number
  status: HeldPosition['status']
  unrealized: Usd
  exposure: Usd
  /** After the bar that is looked at. */
  nextStatus: HeldPosition['status']
  nextUnrealized: Usd
  nextExposure: Usd
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
  return {
    position,
    direction: terms.direction,
    openedMs,
    lowAbove: below === null ? -Infinity : clearlyAbove(priceNumber(below)),
    highBelow: above === null ? Infinity : clearlyBelow(priceNumber(above)),
    degradedAt: stopLoss === null ? null : worse(rules.degrade_at * -returnAt(position, stopLoss)),
    lateFromMs: openedMs + rules.time_stop_hours * HOUR_MS - 1,
    lateCloseAbove: isLong ? clearlyAbove(late) : -Infinity,
    lateCloseBelow: isLong ? Infinity : clearlyBelow(late),
    endsMs: openedMs + rules.max_holding_hours * HOUR_MS - 1,
    status,
    unrealized: position.mark.unrealized,
    nextStatus: status,
    nextUnrealized: position.mark.unrealized,
    exposure: position.mark.exposure,
    nextExposure: position.mark.exposure,
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
  { status, direction, degradedAt }: WatchedPosition,
  close: number,
): HeldPosition['status'] | null => {
  if (status === 'open' || degradedAt === null) return 'monitoring'
  if (close > clearlyAbove(degradedAt)) return direction === 'long' ? 'monitoring' : 'degrading'
  if (close < clearlyBelow(degradedAt)) return direction === 'long' ? 'degrading' : 'monitoring'
  return null
}

/** Where the position is worth that much now. */
export const unrealizedOf = ({ position, direction }: WatchedPosition, exposure: Usd): Usd =>
  signed(direction, minus(exposure, position.holding.notional))

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
