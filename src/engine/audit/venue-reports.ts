import type { Command } from '../../core/decide.ts'
import { asKnown, type KnownEvent, type PayloadOf } from '../../core/events/catalogue.ts'
import type { Stamped } from '../../core/log/event.ts'
import { orderId, type CanonicalSymbol, type OrderId } from '../../core/shared/brand.ts'
import {
  minus,
  NO_QUANTITY,
  NO_USD,
  plus,
  priceFrom,
  quantityFrom,
  signed,
  sumOf,
  usdFrom,
  type Quantity,
} from '../../core/shared/money.ts'
import type { State } from '../../core/state.ts'
import type {
  AccountSweep,
  VenueHolding,
  VenueLiquidation,
} from '../../core/trading/venue/account-differences.ts'
import { openPositionsOf } from '../../core/trading/positions/book.ts'
import { unexplainedBalance } from '../../core/trading/venue/capital.ts'
import {
  isLiquidation,
  liquidationOrderId,
  NOT_SENT,
  type OpenOrder,
} from '../../core/trading/orders/orders.ts'
import { quantityLeft, type OpenPosition } from '../../core/trading/positions/positions.ts'
import type { VenueFill, VenueReport } from '../../core/trading/venue/venue-orders.ts'

/*
 * A venue reports orders and accounts. The report itself is not recorded, but the events that came of it name everything
 * that the decision read: which fills, which quantities, which difference. So the report is put together again, and what
 * the engine made of it (the price at which a position closed, its profit, alerts, the kill switch) is decided again.
 */

/** Reports of a venue that may have led to the next events. */
export const venueReports = (state: State, rest: readonly Stamped[]): readonly Command[] => {
  const first = rest[0] === undefined ? null : asKnown(rest[0])
  if (first === null) return []
  return [
    ...orderReports(state, first, rest),
    ...accountReports(state, rest),
    ...capitalReports(state, first),
  ]
}

const orderReports = (
  { trading }: State,
  first: KnownEvent,
  rest: readonly Stamped[],
): readonly Command[] => {
  if (first.type === 'alert.execution') return unclearLookups(first.payload)
  const id = orderOf(first)
  const order = id === null ? undefined : trading.orders.open.get(id)
  if (order === undefined) return []
  return [...endedAttempts(order, first), ...lookups(order, first), ...statusReports(order, rest)]
}

const orderOf = ({ payload }: KnownEvent): OrderId | null => {
  const id: unknown = 'order_id' in payload ? payload.order_id : null
  return typeof id === 'string' ? orderId(id) : null
}

/** An order that did not leave, or that the venue refused. */
const endedAttempts = ({ id }: OpenOrder, first: KnownEvent): readonly Command[] => {
  if (first.type === 'execution.order_canceled.v1')
    return [{ kind: 'record-unsent', orderId: id, reason: first.payload.reason }]
  if (first.type !== 'execution.order_failed.v1') return []
  const { reasons, details, retry_at: retryAt } = first.payload
  const { reason, venue_reason: refusal } = details
  if (reasons.includes(NOT_SENT)) {
    const retryAfterMs = retryAt === undefined ? null : Date.parse(retryAt) - Date.parse(first.ts)
    return [{ kind: 'record-not-sent', orderId: id, reason: textOf(reason), retryAfterMs }]
  }
  return [{ kind: 'record-rejection', orderId: id, reason: textOf(refusal) }]
}

/** What the venue answered when it was asked for an order. */
const lookups = ({ id }: OpenOrder, first: KnownEvent): readonly Command[] => {
  if (first.type === 'execution.order_unknown.v1') {
    const { reason } = first.payload
    return [
      { kind: 'mark-order-unknown', orderId: id, reason },
      { kind: 'mark-orders-unknown', reason },
    ]
  }
  if (first.type !== 'execution.order_reconciled.v1' || first.payload.found) return []
  return [
    { kind: 'record-not-found', orderId: id, lookups: first.payload.lookups },
    { kind: 'record-lookup-unsupported', orderId: id },
  ]
}

/** An exit of which the venue does not say what became. The alert ends with the reason. */
const unclearLookups = ({
  cause,
  message,
  order_id: id,
}: PayloadOf<'alert.execution'>): readonly Command[] => {
  const at = message.indexOf(LAST_ATTEMPT)
  if (cause !== 'exit_failed' || id === null || at === -1) return []
  const reason = message.slice(at + LAST_ATTEMPT.length)
  return [{ kind: 'record-unclear-lookup', orderId: orderId(id), reason }]
}

const LAST_ATTEMPT = '. The last one: '

/** The order as the venue reported it. The next report may stand in the same batch, so shorter ones are tried, too. */
const statusReports = (order: OpenOrder, rest: readonly Stamped[]): readonly Command[] => {
  const events = rest
    .slice(0, EVENTS_OF_REPORT_MAX)
    .map(asKnown)
    .filter((event) => event !== null && (orderOf(event) === order.id || isOpening(event, order)))
    .filter((event) => event !== null)
  const [first] = events
  if (first === undefined || !REPORTED.has(first.type)) return []
  const fills = fillsIn(events, order, first)
  const end = events.find(({ type }) => ENDS.has(type)) ?? null
  const reconciled = first.type === 'execution.order_reconciled.v1' ? first.payload : null
  const acknowledged = events.find(({ type }) => type === 'execution.order_acknowledged.v1')
  const venueOrderId =
    acknowledged?.type === 'execution.order_acknowledged.v1'
      ? acknowledged.payload.venue_order_id
      : (order.venueOrderId ?? '')
  const statuses: readonly VenueReport['status'][] =
    reconciled === null
      ? ['open', 'canceled', 'rejected']
      : [reconciled.venue_status as VenueReport['status']]
  const counts = Array.from({ length: fills.length + 1 }, (_, index) => fills.length - index)
  return counts.flatMap((count) =>
    statuses.flatMap((status) =>
      (end === null ? [true] : [false, true]).map((isUnfinished): Command => ({
        kind: 'record-report',
        orderId: order.id,
        report: {
          venueOrderId,
          status,
          // An order whose trades are not all listed yet has not ended.
          filledQuantity: isUnfinished ? plus(order.quantity, ONE) : NO_QUANTITY,
          fills: fills.slice(0, count),
        },
        lookups: reconciled?.lookups ?? null,
      })),
    ),
  )
}

/** One report adds a few events for each of its fills. */
const EVENTS_OF_REPORT_MAX = 100

const ONE = 1n as Quantity

const REPORTED: ReadonlySet<string> = new Set([
  'execution.order_reconciled.v1',
  'execution.order_acknowledged.v1',
  'execution.venue_stop_triggered.v1',
  'execution.order_filled.v1',
  'execution.order_canceled.v1',
  'execution.order_failed.v1',
])

const ENDS: ReadonlySet<string> = new Set(['execution.order_canceled.v1', 'execution.order_failed.v1'])

const isOpening = ({ type, payload }: KnownEvent, { positionId }: OpenOrder): boolean =>
  type === 'execution.position_opened.v1' && 'position_id' in payload && payload.position_id === positionId

/** The fills with times that keep their order. The first one gives a position its beginning, or a stop its trigger. */
const fillsIn = (
  events: readonly KnownEvent[],
  { id }: OpenOrder,
  first: KnownEvent,
): readonly VenueFill[] => {
  const opened = events.find(({ type }) => type === 'execution.position_opened.v1')
  const triggered = events.find(({ type }) => type === 'execution.venue_stop_triggered.v1')
  const trigger = triggered?.type === 'execution.venue_stop_triggered.v1' ? triggered.payload.trigger : null
  const atMs = Date.parse(trigger?.ts ?? opened?.ts ?? first.ts)
  return events
    .flatMap((event) =>
      event.type === 'execution.order_filled.v1' && event.payload.order_id === id ? [event.payload] : [],
    )
    .map((fill, index) => ({
      venueTradeId: fill.venue_trade_id ?? '',
      price: priceFrom(fill.fill_price),
      quantity: quantityFrom(fill.fill_size),
      feeUsd: usdFrom(fill.fee_usd),
      atMs: atMs + index,
    }))
}

/** What the venue held in one symbol when accounts were compared. */
interface Compared {
  readonly venue: string
  readonly symbol: CanonicalSymbol
  /** Signed: longs above zero. */
  readonly theirs: Quantity
  readonly like: Pick<VenueHolding, 'entryPrice' | 'leverage'>
  readonly liquidations: readonly VenueLiquidation[]
}

const accountReports = (state: State, rest: readonly Stamped[]): readonly Command[] => {
  const end = rest.findIndex((event) => !isOfComparison(event))
  const block = end === -1 ? rest : rest.slice(0, end)
  const held = block.findIndex(({ type }) => type === 'execution.reduce_only.v1')
  const sweeps = [block, ...(held === -1 ? [] : [block.slice(0, held + 1)])].map((events) =>
    sweepFrom(state, events),
  )
  return sweeps.flatMap((sweep): readonly Command[] =>
    sweep === null ? [] : [{ kind: 'compare-account', sweep }],
  )
}

const COMPARISON: ReadonlySet<string> = new Set([
  'execution.position_adopted.v1',
  'execution.venue_differs.v1',
  'execution.reduce_only.v1',
  'execution.position_closed.v1',
])

const isOfComparison = ({ type, payload }: Stamped): boolean =>
  COMPARISON.has(type) ||
  type.startsWith('alert.') ||
  (type === 'execution.order_filled.v1' && isLiquidation(orderId(textOf(payload['order_id']))))

const sweepFrom = (state: State, events: readonly Stamped[]): AccountSweep | null => {
  const bySymbol = new Map<CanonicalSymbol, Compared>()
  for (const event of events) {
    const known = asKnown(event)
    const next = known === null ? null : comparedBy(state, known, bySymbol)
    if (next !== null) bySymbol.set(next.symbol, next)
  }
  const compared = [...bySymbol.values()]
  const [first] = compared
  if (first === undefined) return null
  return {
    venue: first.venue,
    quietSymbols: compared.map(({ symbol }) => symbol),
    positions: compared.flatMap(({ symbol, theirs, like }) => holdingOf(symbol, theirs, like)),
    liquidations: compared.flatMap(({ liquidations }) => liquidations),
  }
}

const holdingOf = (
  symbol: CanonicalSymbol,
  theirs: Quantity,
  like: Compared['like'],
): readonly VenueHolding[] => {
  if (theirs === 0n) return []
  const direction = theirs > 0n ? 'long' : 'short'
  return [{ symbol, direction, quantity: signed(direction, theirs), ...like }]
}

const comparedBy = (
  { trading }: State,
  event: KnownEvent,
  before: ReadonlyMap<CanonicalSymbol, Compared>,
): Compared | null => {
  const like = { entryPrice: priceFrom(1), leverage: 1 }
  const oursIn = (symbol: CanonicalSymbol, venue: string): Quantity =>
    sumOf(
      openPositionsOf(trading)
        .filter(({ terms }) => terms.asset === symbol && terms.platform === venue)
        .map((position) => signed(position.terms.direction, quantityLeft(position))),
    )
  switch (event.type) {
    case 'execution.position_adopted.v1': {
      const { asset: symbol, venue, direction, quantity, entry_price: price, leverage } = event.payload
      const theirs = plus(oursIn(symbol, venue), signed(direction, quantityFrom(quantity)))
      return {
        venue,
        symbol,
        theirs,
        like: { entryPrice: priceFrom(price), leverage },
        liquidations: [],
      }
    }
    case 'execution.venue_differs.v1': {
      const { symbol, venue, venue_quantity: theirs } = event.payload
      const direction = theirs < 0 ? 'short' : 'long'
      const quantity = signed(direction, quantityFrom(Math.abs(theirs)))
      return { venue, symbol, theirs: quantity, like, liquidations: [] }
    }
    case 'execution.order_filled.v1': {
      const { position_id: id, venue_trade_id: venueTradeId, fill_price: price, fee_usd: fee } = event.payload
      const position = trading.positions.get(id)
      if (position === undefined || venueTradeId === null) return null
      if (event.payload.order_id !== liquidationOrderId(venueTradeId)) return null
      const { asset: symbol, platform: venue, direction } = position.terms
      const known = before.get(symbol)
      const quantity = quantityFrom(event.payload.fill_size)
      const liquidations = [...(known?.liquidations ?? [])]
      // Several parts of a position keep their order by their times, which end at that of the last one.
      const trade = {
        venueTradeId,
        symbol,
        direction,
        quantity,
        price: priceFrom(price),
        feeUsd: usdFrom(fee),
      }
      liquidations.push({ ...trade, atMs: Date.parse(event.ts) })
      const theirs = minus(known?.theirs ?? oursIn(symbol, venue), signed(direction, quantity))
      return { venue, symbol, theirs, like, liquidations }
    }
    case 'execution.position_closed.v1': {
      const { asset: symbol, exit_reason: reason, trigger } = event.payload
      const known = before.get(symbol)
      if (known === undefined || reason !== 'liquidated' || trigger === null) return null
      const lastMs = Date.parse(trigger.ts)
      const count = known.liquidations.length
      const liquidations = known.liquidations.map((trade, index) => ({
        ...trade,
        atMs: lastMs - (count - 1 - index),
      }))
      return { ...known, liquidations }
    }
    default:
      return null
  }
}

/** A difference of the balance: the venue reported so much more, or less, than the books say. */
const capitalReports = (state: State, first: KnownEvent): readonly Command[] => {
  const amount = differenceIn(first)
  if (amount === null) return []
  const { venue, usd } = amount
  const held = openPositionsOf(state.trading).filter(({ terms }) => terms.platform === venue)
  const symbols = [...new Set(held.map(({ terms }) => terms.asset))]
  const positions = symbols.flatMap((symbol) =>
    holdingOf(symbol, reportedIn(state, symbol, held), { entryPrice: priceFrom(1), leverage: 1 }),
  )
  const sweep: AccountSweep = { venue, balance: NO_USD, positions, liquidations: [], quietSymbols: symbols }
  const without = unexplainedBalance(state, sweep)
  if (without === null) return []
  const balance = minus(usdFrom(usd), without)
  // A liquidation that no position has makes a loss of it.
  const unknown: VenueLiquidation = {
    venueTradeId: '',
    symbol: 'UNKNOWN',
    direction: 'long',
    quantity: ONE,
    price: priceFrom(1),
    feeUsd: NO_USD,
    atMs: Date.parse(first.ts),
  }
  return [[], [unknown]].map((liquidations): Command => ({
    kind: 'record-capital',
    sweep: { ...sweep, balance, liquidations },
  }))
}

const differenceIn = (event: KnownEvent): { readonly venue: string; readonly usd: number } | null => {
  switch (event.type) {
    case 'execution.balance_differs.v1':
      return { venue: event.payload.venue, usd: event.payload.unexplained_usd }
    case 'execution.capital_moved.v1':
    case 'execution.loss_unexplained.v1':
      return { venue: event.payload.venue, usd: event.payload.amount_usd }
    default:
      return null
  }
}

/** As the last comparison found it: what is missing at the venue, or what the log holds. */
const reportedIn = ({ trading }: State, symbol: CanonicalSymbol, held: readonly OpenPosition[]): Quantity =>
  trading.venue.missing.find((one) => one.symbol === symbol)?.held ??
  sumOf(
    held
      .filter(({ terms }) => terms.asset === symbol)
      .map((position) => signed(position.terms.direction, quantityLeft(position))),
  )

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
