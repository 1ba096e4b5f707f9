import { NO_QUANTITY, notionalOf } from '../../../core/shared/money.ts'
import { canonicalSymbol } from '../../../core/shared/symbol.ts'
import { supportedVenue, type MarginMode } from '../../../core/shared/venues.ts'
import type {
  Broker,
  BrokerOrder,
  CancelResult,
  Deadline,
  LookupResult,
  OrderName,
  SubmitResult,
  VenueQuote,
} from '../../../ports/broker.ts'
import { memberOf, textMemberOf } from '../../ccxt.ts'
import { createAccountReader, type AccountReader } from './account.ts'
import { amountOf, sendableQuantity, withinMax, type Contract } from './contracts.ts'
import { priceOf, safeLimit, decimalText } from './decimals.ts'
import {
  failedWith,
  openExchange,
  type Exchange,
  type ExchangeOptions,
  type FailedReply,
} from './exchange.ts'
import { agreeMargin } from './margin.ts'
import { checkExchange, CHECK_NAMES } from './preflight.ts'
import { createReports, reportedOrderOf, type Reports } from './reports.ts'
import { createStops, type Stops } from './stops.ts'
import { FOREIGN_ID, unclear, UNREADABLE } from './request-failure.ts'

export interface CcxtBrokerDependencies extends Omit<ExchangeOptions, 'signal'> {
  /**
   * Highest leverage that positions may have. It decides whether the account is large enough for the smallest orders.
   */
  readonly leverageMax: number
  /** Margin mode of entries and of their protective stops. Default: isolated. */
  readonly marginMode?: MarginMode
}

/** A real exchange. Nothing is loaded or requested before the first call; no call rejects. */
export const createCcxtBroker = (dependencies: CcxtBrokerDependencies): Broker => {
  const { exchange: name, timer } = dependencies
  const abort = new AbortController()
  const { signal } = abort
  let opening: Promise<Session | string> | null = null
  let session: Session | null = null
  let universe: readonly string[] = []

  const open = async (): Promise<Session> => {
    const exchange = await openExchange({ ...dependencies, signal })
    const reports = createReports(exchange, timer, signal)
    const reader = createAccountReader(exchange, reports, timer)
    const { marginMode = 'isolated' } = dependencies
    const stops = createStops(exchange, reports, marginMode)
    session = { exchange, reports, reader, stops, marginMode }
    return session
  }

  /** Runs with the open exchange, or returns the failure for the reason why it cannot be opened. */
  const withSession = async <T, Failure>(
    run: (session: Session) => Promise<T>,
    onFailure: (reason: string) => Failure,
  ): Promise<T | Failure> => {
    opening ??= open().catch((error: unknown) => (error instanceof Error ? error.message : String(error)))
    const opened = await opening
    return typeof opened === 'string' ? onFailure(opened) : run(opened)
  }

  const within = <T, Failure>(
    deadline: Deadline,
    run: (session: Session) => Promise<T>,
    onFailure: (reason: string) => Failure,
  ): Promise<T | Failure> =>
    withSession((opened) => opened.exchange.until(deadline, () => run(opened)), onFailure)

  return {
    name: `ccxt:${name}`,
    preflight: (symbols) => {
      universe = symbols
      return withSession(
        ({ exchange }) => checkExchange(exchange, symbols, dependencies.leverageMax),
        (detail) => CHECK_NAMES.map((check) => ({ name: check, ok: false, detail })),
      )
    },
    stepsOf: (symbol) => {
      const contract = session?.exchange.contracts().get(canonicalSymbol(symbol))
      return contract?.isActive === true ? contract.steps : null
    },
    submit: (order, deadline) => within(deadline, (opened) => submitOrder(opened, order), notSent),
    cancel: (order, deadline) => within(deadline, (opened) => cancelOrder(opened, order), unclear),
    lookup: (order, deadline) => within(deadline, (opened) => lookupOrder(opened, order), unclear),
    stops:
      supportedVenue(name)?.restsStops === true
        ? {
            place: (stop, deadline) => within(deadline, ({ stops }) => stops.place(stop), notSent),
            cancel: (stop, deadline) => within(deadline, ({ stops }) => stops.cancel(stop), unclear),
            lookup: (stop, deadline) => within(deadline, ({ stops }) => stops.lookup(stop), unclear),
            open: () =>
              withSession(
                ({ stops }) => stops.open(universe),
                () => null,
              ),
          }
        : null,
    account: () =>
      withSession(
        ({ reader }) => reader.account(universe),
        () => null,
      ),
    history: () =>
      withSession(
        ({ reader }) => reader.history(universe),
        () => null,
      ),
    quotes: (symbols) =>
      withSession(
        ({ exchange }) => readQuotes(exchange, symbols),
        () => [],
      ),
    close: async () => {
      abort.abort()
      await opening
    },
  }
}

interface Session {
  readonly exchange: Exchange
  readonly reports: Reports
  readonly reader: AccountReader
  readonly stops: Stops
  readonly marginMode: MarginMode
}

const notSent = (reason: string, retryAfterMs: number | null = null) =>
  ({ status: 'not_sent', reason, retryAfterMs }) as const

const rejected = (reason: string): SubmitResult => ({ status: 'rejected', reason })

/** Sends an order once and returns its known outcome. The caller's deadline applies to every request. */
const submitOrder = async (session: Session, order: BrokerOrder): Promise<SubmitResult> => {
  const { exchange, reports, marginMode } = session
  const { api, dialect, request } = exchange
  const heldBack = (reason: string): SubmitResult => notSent(reason, exchange.heldBackMs())
  const contract = await exchange.contractOf(order.symbol)
  if (contract.status !== 'done') return heldBack(contract.reason)
  const { market, isActive } = contract.value
  if (!isActive) return heldBack(`${market} is not traded any more`)
  const noteNotTraded = (failure: FailedReply): boolean => {
    const isNotTraded = failedWith(failure, dialect.codes.notTraded)
    if (isNotTraded) exchange.deactivate(order.symbol)
    return isNotTraded
  }
  const checked = requestOf(order, contract.value, dialect.clientOrderId)
  if (typeof checked === 'string') return heldBack(checked)
  if (!order.reduceOnly) {
    const difference = await agreeMargin(exchange, contract.value, marginMode, order.leverage)
    if (difference !== null) {
      const isNotTraded = noteNotTraded(difference)
      return isNotTraded ? rejected(difference.reason) : heldBack(difference.reason)
    }
  }
  const reply = await request(() =>
    dialect.createOrder(api, contract.value, { order, ...checked, marginMode }),
  )
  if (reply.status === 'done') {
    const reported = reportedOrderOf(reply.value, order.clientOrderId, contract.value)
    if (reported === null) return acknowledgedOrder(session, order, reply.value)
    if (reported.status === 'rejected')
      return rejected('the exchange accepted the order and then rejected it')
    return { status: 'accepted', report: await reports.withTrades(reported, contract.value) }
  }
  if (failedWith(reply, dialect.codes.duplicate)) return existingOrder(session, order)
  noteNotTraded(reply)
  switch (reply.status) {
    case 'refused':
      return rejected(reply.reason)
    case 'not_sent':
      return heldBack(reply.reason)
    case 'unclear':
      return unclear(reply.reason)
  }
}

/**
 * Some exchanges acknowledge an order with its ids alone. The outcome is then looked up at once. An outcome that is not
 * known yet is looked up later, as for every open order.
 */
const acknowledgedOrder = async (
  session: Session,
  order: BrokerOrder,
  acknowledgement: unknown,
): Promise<SubmitResult> => {
  const { clientOrderId } = order
  const venueOrderId = textMemberOf(acknowledgement, 'id')
  const isAcknowledged =
    venueOrderId !== null &&
    textMemberOf(acknowledgement, 'clientOrderId') === clientOrderId &&
    textMemberOf(acknowledgement, 'status') === null
  if (!isAcknowledged) return UNREADABLE
  const found = await lookupOrder(session, order)
  if (found.status === 'found' && found.report.status === 'rejected')
    return rejected('the exchange accepted the order and then rejected it')
  if (found.status === 'found') return { status: 'accepted', report: found.report }
  return {
    status: 'accepted',
    report: { clientOrderId, venueOrderId, status: 'open', filledQuantity: NO_QUANTITY, fills: [] },
  }
}

interface OrderRequest {
  readonly amount: string
  readonly price: string | undefined
}

/** Amount and price on the steps of the exchange, or the reason why nothing is sent. */
const requestOf = (order: BrokerOrder, contract: Contract, clientOrderIds: RegExp): OrderRequest | string => {
  const { priceStep, notionalMin } = contract.steps
  if (!clientOrderIds.test(order.clientOrderId)) return FOREIGN_ID
  const quantity = sendableQuantity(order.quantity, contract)
  if (typeof quantity === 'string') return quantity
  if (order.kind === 'market')
    return { amount: amountOf(withinMax(quantity, contract), contract), price: undefined }
  if (order.limitPrice === null) return 'a limit order needs a price'
  const price = safeLimit(order.limitPrice, priceStep, order.side)
  if (price <= 0n) return 'the price is below the smallest step of the exchange'
  // Orders that reduce a position are accepted at any size.
  const isTooSmall = notionalMin !== null && notionalOf(price, quantity) < notionalMin
  if (isTooSmall && !order.reduceOnly) return 'the value is below the minimum of the exchange'
  return { amount: amountOf(quantity, contract), price: decimalText(price) }
}

/** An open order has the client order id: it is the same order, sent before. */
const existingOrder = async (session: Session, order: BrokerOrder): Promise<SubmitResult> => {
  const found = await lookupOrder(session, order)
  if (found.status === 'found') return { status: 'accepted', report: found.report }
  return unclear('the exchange has an open order with this client order id')
}

const lookupOrder = async (session: Session, { clientOrderId, symbol }: OrderName): Promise<LookupResult> => {
  const { exchange, reports } = session
  const { api, dialect, request } = exchange
  const contract = await exchange.contractOf(symbol)
  if (exchange.isUnlisted(symbol)) return { status: 'unsupported' }
  if (contract.status !== 'done') return unclear(contract.reason)
  const reply = await request(() => dialect.findOrder(api, contract.value, clientOrderId))
  const isMissing =
    reply.status === 'done'
      ? reply.value === null
      : reply.status === 'refused' && failedWith(reply, dialect.codes.noSuchOrder)
  if (isMissing) return { status: 'not_found' }
  if (reply.status !== 'done') return unclear(reply.reason)
  const reported = reportedOrderOf(reply.value, clientOrderId, contract.value)
  if (reported === null) return UNREADABLE
  return { status: 'found', report: await reports.withTrades(reported, contract.value) }
}

const cancelOrder = async (session: Session, { clientOrderId, symbol }: OrderName): Promise<CancelResult> => {
  const { exchange, reports } = session
  const { api, dialect, request } = exchange
  const contract = await exchange.contractOf(symbol)
  if (contract.status !== 'done') return unclear(contract.reason)
  const reply = await request(() => dialect.cancelOrder(api, contract.value, clientOrderId))
  if (reply.status === 'refused' && failedWith(reply, dialect.codes.nothingToCancel))
    return { status: 'not_open' }
  if (reply.status !== 'done') return unclear(reply.reason)
  const reported = reportedOrderOf(reply.value, clientOrderId, contract.value)
  if (reported !== null)
    return { status: 'canceled', report: await reports.withTrades(reported, contract.value) }
  // The exchange acknowledged the order without its earlier fills.
  const found = await lookupOrder(session, { clientOrderId, symbol })
  if (found.status === 'found' && found.report.status !== 'open' && found.report.status !== 'partial')
    return { status: 'canceled', report: found.report }
  return unclear('the cancellation was acknowledged, and the order is not known to have ended')
}

/** The last price of each symbol, in one request where the exchange allows it. */
const readQuotes = async (exchange: Exchange, symbols: readonly string[]): Promise<readonly VenueQuote[]> => {
  const { api, request, contracts } = exchange
  if (contracts().size === 0) await exchange.reload()
  const traded = symbols.flatMap((symbol) => {
    const contract = contracts().get(canonicalSymbol(symbol))
    return contract?.isActive === true ? [{ symbol, market: contract.market }] : []
  })
  if (traded.length === 0) return []
  const isList = api.has['fetchTickers'] === true
  const all = isList ? await request(() => api.fetchTickers(traded.map(({ market }) => market))) : null
  const quotes: VenueQuote[] = []
  for (const { symbol, market } of traded) {
    const reply = all ?? (await request(() => api.fetchTicker(market)))
    if (reply.status !== 'done') continue
    const price = priceOf(memberOf(isList ? memberOf(reply.value, market) : reply.value, 'last'), 'nearest')
    if (price !== null && price > 0n) quotes.push({ symbol, price })
  }
  return quotes
}
