import type { Configuration } from '../../config/schema.ts'
import type { NewEvent } from '../../events/catalogue.ts'
import type { OrderId, PositionId } from '../../shared/brand.ts'
import type { DecisionContext } from '../../shared/decision-context.ts'
import { quantityNumber } from '../../shared/money.ts'
import { hasPassed } from '../../shared/time.ts'
import { openPositionsOf } from '../positions/book.ts'
import type { TradingState } from '../evolve.ts'
import { executionAlert } from '../orders/execution-alerts.ts'
import { byId, PAPER } from '../orders/orders.ts'
import { quantityLeft } from '../positions/positions.ts'

/*
 * Orders go to one venue, the configured one. Positions and orders may be open at another venue after the setting was
 * changed or the log was restored elsewhere. The engine then sends no exits and stops for them and does not look them
 * up. The same applies to the configured venue while it cannot be opened, for example without its keys. An alert
 * reports both.
 */

/** A position, or an order without one, at a venue to which no orders are sent. */
export interface Unrouted {
  readonly venue: string
  readonly symbol: string
  readonly positionId: PositionId | null
  readonly orderId: OrderId | null
  /** Description for people. */
  readonly what: string
  /** Reason why the configured venue was not opened; null for another venue. */
  readonly refusal: string | null
}

/**
 * Positions and orders at venues to which no orders are sent: any other than the configured one, or the configured one
 * while it is not opened.
 */
export const unroutedIn = (
  trading: TradingState,
  execution: Pick<Configuration['execution'], 'venue'>,
): readonly Unrouted[] => [...openElsewhere(trading, execution), ...openAtRefused(trading, execution)]

/** Positions and orders at real venues other than the configured one. */
export const openElsewhere = (
  trading: TradingState,
  { venue: configured }: Pick<Configuration['execution'], 'venue'>,
): readonly Unrouted[] => openAt(trading, (venue) => venue !== PAPER && venue !== configured, null)

const openAtRefused = (
  trading: TradingState,
  { venue: configured }: Pick<Configuration['execution'], 'venue'>,
): readonly Unrouted[] => {
  const { checked } = trading.venue
  const failed = checked?.checks.find(({ name, ok }) => !ok && BEFORE_OPENING.has(name))
  if (failed === undefined || checked?.venue !== configured) return []
  return openAt(trading, (venue) => venue === configured, failed.detail)
}

/** Checks that fail before the venue is contacted. Nothing is sent there until the service is restarted. */
export type OpeningCheck = 'keys' | 'venue'

const BEFORE_OPENING: ReadonlySet<string> = new Set<OpeningCheck>(['keys', 'venue'])

const openAt = (
  trading: TradingState,
  isThere: (venue: string) => boolean,
  refusal: string | null,
): readonly Unrouted[] => {
  // Without a recorded check, no venue can have positions or orders.
  if (trading.venue.checked === null) return []
  const positions = openPositionsOf(trading)
  const held = new Set(positions.map(({ id }) => id))
  return [
    ...positions
      .filter(({ terms }) => isThere(terms.platform))
      .map((position): Unrouted => {
        const { id: positionId, terms } = position
        const what = `${terms.direction} position ${positionId} of ${quantityNumber(quantityLeft(position))} ${terms.asset}`
        return { venue: terms.platform, symbol: terms.asset, positionId, orderId: null, what, refusal }
      }),
    ...[...trading.orders.open.values()]
      .filter(({ venue, positionId }) => isThere(venue) && !held.has(positionId))
      .toSorted(byId)
      .map(({ id: orderId, venue, symbol, side }): Unrouted => {
        const what = `order ${orderId} to ${side} ${symbol}`
        return { venue, symbol, positionId: null, orderId, what, refusal }
      }),
  ]
}

/**
 * One sentence with the solution: positions are monitored, closed and compared again only while their venue is
 * configured.
 */
export const unroutedSentence = (
  { venue, what, refusal }: Unrouted,
  { venue: configured }: Pick<Configuration['execution'], 'venue'>,
): string =>
  refusal === null
    ? `${venue} has the ${what}, but execution.venue is ${configured === '' ? 'empty' : configured}: no exit or stop is ` +
      `sent there. Set execution.venue to ${venue} with its keys and restart the service, or watch ${venue} by hand`
    : `${venue} has the ${what}, but no exit or stop is sent there: ${refusal}. Until then watch ${venue} by hand`

/** Alerts at once, and then at the interval of repeated alerts. */
export const unroutedAlerts = (
  trading: TradingState,
  { now, configuration: { alerts, execution } }: DecisionContext,
): readonly NewEvent[] => {
  const before = trading.venue.unroutedAlert
  if (before !== null && !hasPassed(alerts.repeat_seconds * 1000, before.at, now)) return []
  return unroutedIn(trading, execution).map((unrouted) =>
    executionAlert({
      cause: unrouted.refusal === null ? 'venue_not_configured' : 'venue_not_opened',
      message: unroutedSentence(unrouted, execution),
      symbol: unrouted.symbol,
      orderId: unrouted.orderId,
      positionId: unrouted.positionId,
      repeat: before === null ? 0 : before.repeat + 1,
    }),
  )
}

/** Venue with open positions or orders. No other may be configured until they are closed. */
export const lockedVenue = (
  trading: TradingState,
  { venue: configured }: Pick<Configuration['execution'], 'venue'>,
): Readonly<Record<string, string>> => {
  const venues = openElsewhere(trading, { venue: '' }).map(({ venue }) => venue)
  const [first] = venues.toSorted()
  if (first === undefined) return {}
  return { 'execution.venue': venues.includes(configured) ? configured : first }
}
