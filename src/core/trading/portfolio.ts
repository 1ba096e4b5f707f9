import { Map as PersistentMap } from 'immutable'
import type { KnownEvent, PayloadOf } from '../events/catalogue.ts'
import { assertFold } from '../shared/assert.ts'
import { intentId, orderId, positionId, timestampOf, type PositionId } from '../shared/brand.ts'
import { blocksExits } from '../shared/level.ts'
import {
  averagePrice,
  costOf,
  minus,
  NO_COST_BASIS,
  NO_QUANTITY,
  NO_USD,
  plus,
  priceFrom,
  priceOrNull,
  quantityFrom,
  usdFrom,
  type Usd,
} from '../shared/money.ts'
import { canonicalSymbol } from '../shared/symbol.ts'
import {
  entryOrderOf,
  INITIAL_POSITIONS,
  isOpen,
  markedAt,
  newPosition,
  singlePrice,
  valued,
  type BlockedExit,
  type ClosedPosition,
  type ClosingPosition,
  type ExitProgress,
  type HeldPosition,
  type OpenPosition,
  type Position,
  type Positions,
  type PriceRange,
} from './positions.ts'

/** Open positions by symbol and in sum, so that a price costs no more than the positions of its symbol. */
export interface Book {
  /** Ids by canonical symbol, oldest first. */
  readonly bySymbol: PersistentMap<string, readonly PositionId[]>
  readonly count: number
  readonly unrealized: Usd
  readonly lossAtStop: Usd
  readonly exposure: Usd
  readonly margin: Usd
}

/** Positions, and the book that is kept of the open ones. */
export interface Portfolio {
  readonly positions: Positions
  readonly book: Book
}

export const INITIAL_PORTFOLIO: Portfolio = {
  positions: INITIAL_POSITIONS,
  book: {
    bySymbol: PersistentMap(),
    count: 0,
    unrealized: NO_USD,
    lossAtStop: NO_USD,
    exposure: NO_USD,
    margin: NO_USD,
  },
}

export const positionsOf = (portfolio: Portfolio, symbol: string): readonly OpenPosition[] =>
  (portfolio.book.bySymbol.get(canonicalSymbol(symbol)) ?? []).map((id) => openPosition(portfolio, id))

/** In the order of their ids, since a persistent map has none. */
export const openPositionsOf = (portfolio: Portfolio): readonly OpenPosition[] =>
  [...portfolio.book.bySymbol.values()]
    .flat()
    .toSorted()
    .map((id) => openPosition(portfolio, id))

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
        ? changed(portfolio, event.payload.position_id, (position) => exitOrdered(position, event.payload))
        : portfolio
    case 'execution.order_filled.v1':
      return filled(portfolio, event.payload)
    case 'execution.order_canceled.v1':
    case 'execution.order_failed.v1':
      return entryEnded(portfolio, event.payload)
    case 'execution.funding_applied.v1':
      // What a venue reports after the close concerns the ledger alone.
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
      const blockedExit = { at: timestampOf(event.ts), repeat, reason } as const
      return changed(portfolio, id, (position) => withBlockedExit(position, blockedExit))
    }
    case 'system.kill_switch.v1':
      return blocksExits(event.payload.level) ? portfolio : withoutBlockedExits(portfolio)
    default:
      return portfolio
  }
}

const openPosition = ({ positions }: Portfolio, id: PositionId): OpenPosition => {
  const position = positions.get(id)
  assertFold(position !== undefined && isOpen(position), `position ${id} is in the book and not open`)
  return position
}

const changed = (
  portfolio: Portfolio,
  id: string,
  change: (position: OpenPosition) => Position,
): Portfolio => {
  const position = portfolio.positions.get(positionId(id))
  assertFold(
    position !== undefined && isOpen(position),
    `an event concerns position ${id}, which is not open`,
  )
  return withPosition(portfolio, change(position))
}

const withHolding = (position: OpenPosition, change: Partial<Position['holding']>): OpenPosition =>
  valued({ ...position, holding: { ...position.holding, ...change } })

const marked = (portfolio: Portfolio, bar: PayloadOf<'market.bar.v1'>): Portfolio => {
  const affected = positionsOf(portfolio, bar.symbol)
  if (affected.length === 0) return portfolio
  const close = singlePrice(bar.close, Date.parse(bar.close_ts))
  const range: PriceRange = { ...close, low: priceFrom(bar.low), high: priceFrom(bar.high) }
  return withMarks(
    portfolio,
    affected,
    affected.map((position) => markedAt(position, position.terms.openedAt <= bar.open_ts ? range : close)),
  )
}

const opened = (payload: PayloadOf<'execution.position_opened.v1'>, openedAt: string): HeldPosition => {
  const quantity = quantityFrom(payload.quantity)
  const entryPrice = priceFrom(payload.entry_price)
  return newPosition(
    positionId(payload.position_id),
    {
      origin: {
        kind: 'intent',
        orderId: orderId(payload.order_id),
        intentId: intentId(payload.intent_id),
        convictionId: payload.conviction_id,
        regimeAtEntry: payload.regime_at_entry,
        pcsAtEntry: payload.pcs_at_entry,
        ctsAtEntry: payload.cts_at_entry,
      },
      platform: payload.platform,
      asset: payload.asset,
      direction: payload.direction,
      leverage: payload.leverage,
      marginType: payload.margin_type,
      openedAt: timestampOf(openedAt),
    },
    {
      quantity,
      notional: usdFrom(payload.size_notional),
      costBasis: costOf(entryPrice, quantity),
      entryPrice,
      isEntryDone: payload.remaining_size === 0,
      stopLoss: priceOrNull(payload.stop_loss),
      takeProfit: priceOrNull(payload.take_profit),
      lossAtStop: usdFrom(payload.loss_at_stop_usd),
      fees: usdFrom(payload.fees_usd),
      funding: NO_USD,
    },
    priceFrom(payload.mark_price),
  )
}

/** It has neither stop nor target. */
const adopted = (payload: PayloadOf<'execution.position_adopted.v1'>, openedAt: string): HeldPosition => {
  const quantity = quantityFrom(payload.quantity)
  const entryPrice = priceFrom(payload.entry_price)
  return newPosition(
    positionId(payload.position_id),
    {
      origin: { kind: 'adopted' },
      platform: payload.venue,
      asset: payload.asset,
      direction: payload.direction,
      leverage: payload.leverage,
      marginType: 'isolated',
      openedAt: timestampOf(openedAt),
    },
    {
      quantity,
      notional: usdFrom(payload.size_notional),
      costBasis: costOf(entryPrice, quantity),
      entryPrice,
      isEntryDone: true,
      stopLoss: null,
      takeProfit: null,
      lossAtStop: usdFrom(payload.loss_at_stop_usd),
      fees: NO_USD,
      funding: NO_USD,
    },
    priceFrom(payload.mark_price),
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

/** A further attempt keeps what the ones before it have filled. */
const exitOrdered = (
  position: OpenPosition,
  payload: PayloadOf<'execution.order_submitted.v1'>,
): ClosingPosition => {
  const { id, terms, holding, mark } = position
  const before = position.status === 'closing' ? position.exit : null
  const { ordered_by: operator, note = null } = payload
  const exit: ExitProgress = {
    orderId: orderId(payload.order_id),
    attempt: (before?.attempt ?? 0) + 1,
    by: operator === undefined ? (before?.by ?? null) : { operator, note },
    reason: payload.exit_reason ?? 'manual',
    trigger: payload.trigger ?? before?.trigger ?? null,
    quantity: before?.quantity ?? NO_QUANTITY,
    notional: before?.notional ?? NO_USD,
    costBasis: before?.costBasis ?? NO_COST_BASIS,
  }
  return { id, status: 'closing', terms, holding, mark, exit }
}

/** A fill of neither the entry nor the exit belongs to a liquidation, which closes the position right after it. */
const filled = (portfolio: Portfolio, payload: PayloadOf<'execution.order_filled.v1'>): Portfolio => {
  const position = portfolio.positions.get(positionId(payload.position_id))
  // The first fill of an entry comes before the position that it opens.
  if (position === undefined || !isOpen(position)) return portfolio
  const { holding } = position
  const quantity = quantityFrom(payload.fill_size)
  const notional = usdFrom(payload.notional_usd)
  const cost = costOf(priceFrom(payload.fill_price), quantity)
  const fees = plus(holding.fees, usdFrom(payload.fee_usd))
  if (position.status === 'closing' && position.exit.orderId === payload.order_id) {
    const { exit } = position
    return withPosition(
      portfolio,
      valued({
        ...position,
        holding: { ...holding, fees },
        exit: {
          ...exit,
          quantity: plus(exit.quantity, quantity),
          notional: plus(exit.notional, notional),
          costBasis: plus(exit.costBasis, cost),
        },
      }),
    )
  }
  if (payload.order_id !== entryOrderOf(position)) return portfolio
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
  closedAt: string,
): ClosedPosition => ({
  id,
  status: payload.exit_reason === 'liquidated' ? 'liquidated' : 'closed',
  terms,
  holding,
  mark,
  end: {
    closedAt: timestampOf(closedAt),
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

/** The portfolio with one position as it is now. */
const withPosition = ({ positions, book }: Portfolio, after: Position): Portfolio => {
  const before = positions.get(after.id)
  const wasOpen = before !== undefined && isOpen(before)
  const without = wasOpen ? summed(book, before, -1) : book
  const staysOpen = isOpen(after)
  const sums = staysOpen ? summed(without, after, 1) : without
  const kept = wasOpen && !staysOpen ? trimmed(positions, book.count) : positions
  return {
    positions: kept.set(after.id, after),
    book: wasOpen === staysOpen ? sums : indexed(sums, after, staysOpen),
  }
}

/** The same for several open positions of which only the mark changed: a bar is frequent. */
const withMarks = (
  { positions, book }: Portfolio,
  before: readonly OpenPosition[],
  after: readonly OpenPosition[],
): Portfolio => {
  let { unrealized, exposure, margin } = book
  for (const { mark } of before) {
    unrealized = minus(unrealized, mark.unrealized)
    exposure = minus(exposure, mark.exposure)
    margin = minus(margin, mark.margin)
  }
  for (const { mark } of after) {
    unrealized = plus(unrealized, mark.unrealized)
    exposure = plus(exposure, mark.exposure)
    margin = plus(margin, mark.margin)
  }
  return {
    positions: positions.withMutations((all) => {
      for (const position of after) all.set(position.id, position)
    }),
    book: { ...book, unrealized, exposure, margin },
  }
}

const summed = (book: Book, { holding, mark }: OpenPosition, sign: 1 | -1): Book => {
  const added = sign === 1 ? plus : minus
  return {
    bySymbol: book.bySymbol,
    count: book.count,
    unrealized: added(book.unrealized, mark.unrealized),
    lossAtStop: added(book.lossAtStop, holding.lossAtStop),
    exposure: added(book.exposure, mark.exposure),
    margin: added(book.margin, mark.margin),
  }
}

const indexed = (book: Book, { id, terms }: Position, joins: boolean): Book => {
  const symbol = canonicalSymbol(terms.asset)
  const ids = book.bySymbol.get(symbol) ?? []
  const after = joins ? [...ids, id] : ids.filter((other) => other !== id)
  return {
    ...book,
    bySymbol: after.length === 0 ? book.bySymbol.delete(symbol) : book.bySymbol.set(symbol, after),
    count: book.count + (joins ? 1 : -1),
  }
}

const CLOSED_KEPT = 1000

/** Only now and then, so that it costs little. The newest stay. */
const trimmed = (positions: Positions, openCount: number): Positions => {
  if (positions.size - openCount < 2 * CLOSED_KEPT) return positions
  const closedOnes = [...positions.values()].filter(
    (position): position is ClosedPosition => !isOpen(position),
  )
  const oldestFirst = closedOnes.toSorted((one, other) =>
    `${one.end.closedAt}|${one.id}` < `${other.end.closedAt}|${other.id}` ? -1 : 1,
  )
  return positions.deleteAll(oldestFirst.slice(0, -CLOSED_KEPT).map(({ id }) => id))
}
