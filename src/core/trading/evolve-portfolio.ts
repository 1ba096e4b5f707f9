import type { KnownEvent, PayloadOf } from '../events/catalogue.ts'
import { averagePrice, unitsFrom, usdFrom } from '../shared/money.ts'
import { adopted } from './adopted.ts'
import { positionsOf, withMarks, withPosition, type Portfolio } from './book.ts'
import { markedAt, seenPrice, withHolding, type SeenPrice } from './marking.ts'
import { newPosition } from './new-position.ts'
import { isOpen, type Alarm, type Holding, type Position, type Terms } from './positions.ts'

export const evolvePortfolio = (portfolio: Portfolio, event: KnownEvent): Portfolio => {
  switch (event.type) {
    case 'market.bar.v1':
      return event.payload.backfill ? portfolio : marked(portfolio, event.payload)
    case 'execution.position_opened.v1':
      return withPosition(portfolio, opened(event.payload, event.ts))
    case 'execution.position_adopted.v1':
      return withPosition(portfolio, adopted(event.payload, event.ts))
    case 'execution.position_updated.v1':
      return changed(portfolio, event.payload.position_id, (position) =>
        updated(position, event.payload, Date.parse(event.ts)),
      )
    case 'execution.order_submitted.v1':
      return event.payload.reduce_only
        ? changed(portfolio, event.payload.position_id, (position) => leaving(position, event.payload))
        : portfolio
    case 'execution.order_filled.v1':
      return changed(portfolio, event.payload.position_id, (position) => filled(position, event.payload))
    case 'execution.order_canceled.v1':
    case 'execution.order_failed.v1':
      return changed(portfolio, event.payload.position_id ?? '', (position) =>
        event.payload.order_id === position.terms.orderId
          ? withHolding(position, { ...position.holding, isEntryDone: true })
          : position,
      )
    case 'execution.funding_applied.v1':
      if (event.payload.is_late === true) return portfolio
      return changed(portfolio, event.payload.position_id, (position) =>
        withHolding(position, {
          ...position.holding,
          funding: position.holding.funding + usdFrom(event.payload.amount_usd),
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
      return changed(portfolio, id, alarmed({ at: event.ts, repeat, reason }))
    }
    case 'system.kill_switch.v1':
      return event.payload.level < LOCKDOWN ? withoutAlarms(portfolio) : portfolio
    default:
      return portfolio
  }
}

const LOCKDOWN = 3

const changed = (portfolio: Portfolio, id: string, change: (position: Position) => Position): Portfolio => {
  const position = portfolio.positions.get(id)
  if (position === undefined || !isOpen(position)) return portfolio
  return withPosition(portfolio, change(position))
}

const marked = (portfolio: Portfolio, bar: PayloadOf<'market.bar.v1'>): Portfolio => {
  const affected = positionsOf(portfolio, bar.symbol)
  if (affected.length === 0) return portfolio
  const close = seenPrice(bar.close, Date.parse(bar.close_ts))
  const whole: SeenPrice = { ...close, low: bar.low, high: bar.high }
  return withMarks(
    portfolio,
    affected,
    affected.map((position) => markedAt(position, position.terms.openedAt <= bar.open_ts ? whole : close)),
  )
}

const opened = (payload: PayloadOf<'execution.position_opened.v1'>, openedAt: string): Position => {
  const quantity = unitsFrom(payload.quantity)
  const terms: Terms = {
    orderId: payload.order_id,
    intentId: payload.intent_id,
    convictionId: payload.conviction_id,
    platform: payload.platform,
    asset: payload.asset,
    direction: payload.direction,
    leverage: payload.leverage,
    marginType: payload.margin_type,
    openedAt,
    regimeAtEntry: payload.regime_at_entry,
    pcsAtEntry: payload.pcs_at_entry,
    ctsAtEntry: payload.cts_at_entry,
    isAdopted: false,
  }
  const holding: Holding = {
    quantity,
    notional: usdFrom(payload.size_notional),
    costBasis: unitsFrom(payload.entry_price) * quantity,
    entryPrice: unitsFrom(payload.entry_price),
    isEntryDone: payload.remaining_size === 0,
    stopLoss: levelFrom(payload.stop_loss),
    takeProfit: levelFrom(payload.take_profit),
    lossAtStop: usdFrom(payload.loss_at_stop_usd),
    fees: usdFrom(payload.fees_usd),
    funding: 0n,
    exit: null,
  }
  return newPosition(payload.position_id, terms, holding, payload.mark_price)
}

const updated = (
  position: Position,
  payload: PayloadOf<'execution.position_updated.v1'>,
  atMs: number,
): Position => {
  const held = withHolding(
    { ...position, status: payload.status },
    {
      ...position.holding,
      stopLoss: levelFrom(payload.stop_loss),
      takeProfit: levelFrom(payload.take_profit),
      lossAtStop: usdFrom(payload.loss_at_stop_usd),
    },
  )
  return payload.mark_price === null ? held : markedAt(held, seenPrice(payload.mark_price, atMs))
}

/** A further attempt keeps what the ones before it have brought. */
const leaving = (position: Position, payload: PayloadOf<'execution.order_submitted.v1'>): Position => {
  const { exit } = position.holding
  const { ordered_by: operator, note = null } = payload
  return {
    ...position,
    status: 'closing',
    holding: {
      ...position.holding,
      exit: {
        orderId: payload.order_id,
        attempt: (exit?.attempt ?? 0) + 1,
        by: operator === undefined ? (exit?.by ?? null) : { operator, note },
        reason: payload.exit_reason ?? 'manual',
        trigger: payload.trigger ?? exit?.trigger ?? null,
        quantity: exit?.quantity ?? 0n,
        notional: exit?.notional ?? 0n,
        costBasis: exit?.costBasis ?? 0n,
      },
    },
  }
}

const filled = (position: Position, payload: PayloadOf<'execution.order_filled.v1'>): Position => {
  const { holding } = position
  const quantity = unitsFrom(payload.fill_size)
  const notional = usdFrom(payload.notional_usd)
  const costBasis = unitsFrom(payload.fill_price) * quantity
  const fees = holding.fees + usdFrom(payload.fee_usd)
  const { exit } = holding
  if (exit?.orderId === payload.order_id) {
    return withHolding(position, {
      ...holding,
      fees,
      exit: {
        ...exit,
        quantity: exit.quantity + quantity,
        notional: exit.notional + notional,
        costBasis: exit.costBasis + costBasis,
      },
    })
  }
  if (payload.order_id !== position.terms.orderId) return position
  const whole = { quantity: holding.quantity + quantity, costBasis: holding.costBasis + costBasis }
  return withHolding(position, {
    ...holding,
    ...whole,
    notional: holding.notional + notional,
    entryPrice: averagePrice(whole.costBasis, whole.quantity),
    isEntryDone: payload.remaining_size === 0,
    fees,
  })
}

const closed = (
  position: Position,
  payload: PayloadOf<'execution.position_closed.v1'>,
  closedAt: string,
): Position => ({
  ...position,
  status: payload.exit_reason === 'liquidated' ? 'liquidated' : 'closed',
  alarm: null,
  end: {
    closedAt,
    exitPrice: payload.exit_price,
    reason: payload.exit_reason,
    realized: usdFrom(payload.realized_pnl),
  },
})

const alarmed =
  (alarm: Alarm) =>
  (position: Position): Position => ({ ...position, alarm })

const withoutAlarms = (before: Portfolio): Portfolio => {
  let portfolio = before
  for (const ids of before.book.bySymbol.values()) {
    for (const id of ids) {
      const position = portfolio.positions.get(id)
      if (position === undefined || position.alarm === null) continue
      portfolio = withPosition(portfolio, { ...position, alarm: null })
    }
  }
  return portfolio
}

const levelFrom = (level: number | null): bigint | null => (level === null ? null : unitsFrom(level))
