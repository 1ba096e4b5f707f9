import { observedBar, type ObservedBar } from '../../market/bar.ts'
import type { KnownEvent, PayloadOf } from '../../events/catalogue.ts'
import { assertFold } from '../../shared/assert.ts'
import { positionId, type Timestamp, type PositionId } from '../../shared/brand.ts'
import { blocksExits } from '../../shared/level.ts'
import {
  averagePrice,
  costOf,
  plus,
  priceFrom,
  priceOrNull,
  quantityFrom,
  usdFrom,
} from '../../shared/money.ts'
import { adopted, opened } from './opened-positions.ts'
import { isRelease } from '../orders/client-order-id.ts'
import { isLiquidation, NOT_SENT } from '../orders/orders.ts'
import { openPositionsOf, positionsOf, withMark, withPosition, type Portfolio } from './book.ts'
import {
  entryOrderOf,
  isOpen,
  markedAt,
  singlePrice,
  valued,
  type BlockedExit,
  type ClosedPosition,
  type ClosingPosition,
  type ExitProgress,
  type OpenPosition,
  type Position,
  type PriceRange,
  type Sold,
  soldOf,
} from './positions.ts'

export const evolvePortfolio = (portfolio: Portfolio, event: KnownEvent): Portfolio => {
  switch (event.type) {
    case 'market.bar.v1':
      return portfolioAfterBar(portfolio, observedBar(event.payload, event.payload.feed))
    case 'execution.position_opened.v1':
      return withPosition(portfolio, opened(event.payload, event.ts))
    case 'execution.position_adopted.v1':
      return withPosition(portfolio, adopted(event.payload, event.ts))
    case 'execution.position_updated.v1':
      return changed(portfolio, event.payload.position_id, (position) =>
        updated(position, event.payload, Date.parse(event.ts)),
      )
    case 'execution.order_submitted.v1':
      if (!event.payload.reduce_only) return portfolio
      return changed(portfolio, event.payload.position_id, (position) =>
        event.payload.trigger_price === undefined
          ? exitOrdered(position, event.payload)
          : withHolding(position, {
              stop: { orderId: event.payload.order_id, count: (position.holding.stop?.count ?? 0) + 1 },
            }),
      )
    case 'execution.venue_stop_triggered.v1':
      return changed(portfolio, event.payload.position_id, (position) =>
        stopTriggered(position, event.payload),
      )
    case 'execution.order_filled.v1':
      return filled(portfolio, event.payload)
    case 'execution.order_canceled.v1':
      return entryEnded(portfolio, event.payload)
    case 'execution.order_failed.v1':
      return entryEnded(exitFailed(portfolio, event.payload), event.payload)
    case 'alert.execution': {
      const { cause, position_id: id, repeat } = event.payload
      if (cause !== 'exit_failed' || id === null) return portfolio
      return withExit(portfolio, id, { alerted: { at: event.ts, repeat } })
    }
    case 'execution.funding_applied.v1':
      // A payment that the venue reports after the close affects the ledger only.
      if (event.payload.is_late === true) return portfolio
      return changed(portfolio, event.payload.position_id, (position) =>
        withHolding(position, {
          funding: plus(position.holding.funding, usdFrom(event.payload.amount_usd)),
        }),
      )
    case 'execution.position_closed.v1':
      return changed(portfolio, event.payload.position_id, (position) =>
        closed(position, event.payload, event.ts),
      )
    case 'alert.stop_triggered':
    case 'alert.target_hit': {
      const { position_id: id, realized_pnl: realized, repeat } = event.payload
      if (realized !== null) return portfolio
      const reason = event.type === 'alert.stop_triggered' ? 'stop' : 'target'
      const blockedExit = { at: event.ts, repeat, reason } as const
      return changed(portfolio, id, (position) => withBlockedExit(position, blockedExit))
    }
    case 'system.kill_switch.v1':
      return blocksExits(event.payload.level) ? portfolio : withoutBlockedExits(portfolio)
    default:
      return portfolio
  }
}

const changed = (
  portfolio: Portfolio,
  id: PositionId,
  change: (position: OpenPosition) => Position,
): Portfolio => {
  const position = portfolio.positions.get(id)
  assertFold(
    position !== undefined && isOpen(position),
    `an event concerns position ${id}, which is not open`,
  )
  return withPosition(portfolio, change(position))
}

const withHolding = (position: OpenPosition, change: Partial<Position['holding']>): OpenPosition =>
  valued({ ...position, holding: { ...position.holding, ...change } })

/** The portfolio after a bar: positions of its symbol have a new mark. */
export const portfolioAfterBar = (portfolio: Portfolio, { symbol, closeMs, bar }: ObservedBar): Portfolio => {
  if (bar.backfill) return portfolio
  const affected = positionsOf(portfolio, symbol)
  if (affected.length === 0) return portfolio
  const { close, low, high } = bar
  const range: PriceRange = { price: close, atMs: closeMs, low, high }
  const single: PriceRange = { price: close, atMs: closeMs, low: close, high: close }
  return affected.reduce(
    (after, position) =>
      withMark(after, position, markedAt(position, position.terms.openedAt <= bar.open_ts ? range : single)),
    portfolio,
  )
}

const updated = (
  position: OpenPosition,
  payload: PayloadOf<'execution.position_updated.v1'>,
  atMs: number,
): OpenPosition => {
  const held = withHolding(withStatus(position, payload.status), {
    stopLoss: priceOrNull(payload.stop_loss),
    takeProfit: priceOrNull(payload.take_profit),
    lossAtStop: usdFrom(payload.loss_at_stop_usd),
  })
  return payload.mark_price === null ? held : markedAt(held, singlePrice(payload.mark_price, atMs))
}

const withStatus = (position: OpenPosition, status: Position['status']): OpenPosition => {
  if (position.status === status) return position
  assertFold(
    position.status !== 'closing' && status !== 'closing' && status !== 'closed' && status !== 'liquidated',
    `an update takes position ${position.id} from ${position.status} to ${status}`,
  )
  return { ...position, status }
}

/** A further attempt keeps the fills of earlier attempts. */
const exitOrdered = (
  position: OpenPosition,
  payload: PayloadOf<'execution.order_submitted.v1'>,
): ClosingPosition => {
  const before = position.status === 'closing' ? position.exit : null
  const { ordered_by: operator, note = null } = payload
  return closing(position, {
    orderId: payload.order_id,
    attempt: (before?.attempt ?? 0) + 1,
    unsent: before?.unsent ?? 0,
    alerted: before?.alerted ?? null,
    by: operator === undefined ? (before?.by ?? null) : { operator, note },
    reason: payload.exit_reason ?? 'manual',
    trigger: payload.trigger ?? before?.trigger ?? null,
  })
}

/** Starts closing without an attempt of ours. A first attempt may follow for the quantity that the stop leaves. */
const stopTriggered = (
  position: OpenPosition,
  { order_id: orderId, trigger }: PayloadOf<'execution.venue_stop_triggered.v1'>,
): ClosingPosition => {
  assertFold(position.status !== 'closing', `position ${position.id} is closing when its stop is triggered`)
  const reason = 'stop_loss'
  return closing(position, { orderId, attempt: 0, unsent: 0, alerted: null, by: null, reason, trigger })
}

/** Starts closing. Quantities that were sold before count as a part of the exit. */
const closing = (position: OpenPosition, exit: Omit<ExitProgress, keyof Sold>): ClosingPosition => {
  const { id, terms, holding, mark } = position
  const { quantity, notional, costBasis } = soldOf(position)
  return { id, status: 'closing', terms, holding, mark, exit: { ...exit, quantity, notional, costBasis } }
}

const exitFailed = (portfolio: Portfolio, payload: PayloadOf<'execution.order_failed.v1'>): Portfolio => {
  const { position_id: id, order_id: orderId, reasons } = payload
  const position = id === undefined ? undefined : portfolio.positions.get(id)
  if (!reasons.includes(NOT_SENT) || position?.status !== 'closing' || position.exit.orderId !== orderId)
    return portfolio
  return withExit(portfolio, position.id, { unsent: position.exit.unsent + 1 })
}

const withExit = (portfolio: Portfolio, id: PositionId, change: Partial<ExitProgress>): Portfolio => {
  const position = portfolio.positions.get(id)
  if (position?.status !== 'closing') return portfolio
  return withPosition(portfolio, { ...position, exit: { ...position.exit, ...change } })
}

/**
 * Counts fills. Those of all attempts to close and of the stop at the venue are summed. A liquidation closes the
 * position right after its fill and is counted with the close.
 */
const filled = (portfolio: Portfolio, payload: PayloadOf<'execution.order_filled.v1'>): Portfolio => {
  const position = portfolio.positions.get(payload.position_id)
  // The first fill of an entry precedes the event that opens its position.
  if (position === undefined || !isOpen(position)) return portfolio
  if (isLiquidation(payload.order_id)) return portfolio
  if (isRelease(payload.order_id)) return withPosition(portfolio, released(position, payload))
  if (payload.order_id !== entryOrderOf(position)) {
    assertFold(
      position.status === 'closing',
      `order ${payload.order_id} sells of position ${position.id}, which is held`,
    )
    return withPosition(portfolio, sold(position, payload))
  }
  const { holding } = position
  const quantity = quantityFrom(payload.fill_size)
  const notional = usdFrom(payload.notional_usd)
  const cost = costOf(priceFrom(payload.fill_price), quantity)
  const fees = plus(holding.fees, usdFrom(payload.fee_usd))
  const whole = { quantity: plus(holding.quantity, quantity), costBasis: plus(holding.costBasis, cost) }
  return withPosition(
    portfolio,
    withHolding(position, {
      ...whole,
      notional: plus(holding.notional, notional),
      entryPrice: averagePrice(whole.costBasis, whole.quantity),
      isEntryDone: payload.remaining_size === 0,
      fees,
    }),
  )
}

/** Counts a manual sale at the venue. The remaining quantity stays open. */
const released = (position: OpenPosition, payload: PayloadOf<'execution.order_filled.v1'>): OpenPosition =>
  position.status === 'closing'
    ? sold(position, payload)
    : valued({ ...position, sold: withFill(soldOf(position), payload) })

const withFill = (before: Sold, payload: PayloadOf<'execution.order_filled.v1'>): Sold => {
  const quantity = quantityFrom(payload.fill_size)
  return {
    quantity: plus(before.quantity, quantity),
    notional: plus(before.notional, usdFrom(payload.notional_usd)),
    costBasis: plus(before.costBasis, costOf(priceFrom(payload.fill_price), quantity)),
  }
}

const sold = (
  position: ClosingPosition,
  payload: PayloadOf<'execution.order_filled.v1'>,
): ClosingPosition => {
  const { holding, exit } = position
  return valued({
    ...position,
    holding: { ...holding, fees: plus(holding.fees, usdFrom(payload.fee_usd)) },
    exit: { ...exit, ...withFill(exit, payload) },
  })
}

const entryEnded = (
  portfolio: Portfolio,
  payload: PayloadOf<'execution.order_canceled.v1'> | PayloadOf<'execution.order_failed.v1'>,
): Portfolio => {
  const position = portfolio.positions.get(positionId(payload.position_id ?? ''))
  if (position === undefined || !isOpen(position) || payload.order_id !== entryOrderOf(position))
    return portfolio
  return withPosition(portfolio, withHolding(position, { isEntryDone: true }))
}

const closed = (
  { id, terms, holding, mark }: OpenPosition,
  payload: PayloadOf<'execution.position_closed.v1'>,
  closedAt: Timestamp,
): ClosedPosition => ({
  id,
  status: payload.exit_reason === 'liquidated' ? 'liquidated' : 'closed',
  terms,
  holding,
  mark,
  end: {
    closedAt,
    exitPrice: priceFrom(payload.exit_price),
    reason: payload.exit_reason,
    realized: usdFrom(payload.realized_pnl),
  },
})

const withBlockedExit = (position: OpenPosition, blockedExit: BlockedExit | null): OpenPosition =>
  position.status === 'closing' ? position : { ...position, blockedExit }

const withoutBlockedExits = (before: Portfolio): Portfolio =>
  openPositionsOf(before)
    .filter((position) => position.status !== 'closing' && position.blockedExit !== null)
    .reduce((portfolio, position) => withPosition(portfolio, withBlockedExit(position, null)), before)
