import { NO_QUANTITY, notionalOf } from '../../../core/shared/money.ts'
import { canonicalSymbol } from '../../../core/shared/symbol.ts'
import { supportedVenue, type MarginMode } from '../../../core/shared/venues.ts'
import type {
  Broker,
  BrokerAccount,
  BrokerCheck,
  BrokerOrder,
  CancelResult,
  CancelStopResult,
  LookupResult,
  OrderName,
  LookupStopResult,
  PlaceStopResult,
  StopReport,
  SubmitResult,
  VenueQuote,
} from '../../../ports/broker.ts'
import type { Timer } from '../../../ports/timer.ts'
import { textMemberOf } from '../../ccxt.ts'
import { createAccountReader, type ReadAccount } from './account.ts'
import { amountOf, withinMax, type Contract } from './contracts.ts'
import { cutQuantity, safeLimit, textOf } from './decimals.ts'
import { openExchange, type Exchange } from './exchange.ts'
import { agreeMargin } from './margin.ts'
import { checkExchange, CHECK_NAMES } from './preflight.ts'
import { readQuotes } from './quotes.ts'
import { createReports, reportedOrderOf, type Reports } from './reports.ts'
import { createStops, type Stops } from './stops.ts'
import type { BrokerCredentials } from './verdict.ts'

export interface CcxtBrokerDependencies {
  /** A supported venue, with `-sandbox` after it for a practice account. */
  readonly exchange: string
  readonly credentials: BrokerCredentials
  /** The most that positions may have: whether the account is large enough for the smallest orders depends on it. */
  readonly leverageMax: number
  /** Of entries, and of the stops that protect them; isolated unless told. */
  readonly marginMode?: MarginMode
  readonly timer: Timer
  /** Replaces the exchange's own hosts, each of which becomes the first part of a path here. */
  readonly baseUrl?: string
  readonly requestTimeoutMs?: number
  /** Time for one request of weight 1; by default what the library knows of the exchange. */
  readonly rateLimitMs?: number
  /** Asked before every request: whether this process still leads. */
  readonly maySend?: () => boolean
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
    const readAccount = createAccountReader(exchange, reports, timer)
    const { marginMode = 'isolated' } = dependencies
    const stops = createStops(exchange, reports, marginMode)
    session = { exchange, reports, readAccount, stops, marginMode }
    return session
  }

  /** Runs with the open exchange, or returns what follows from the reason why it cannot be opened. */
  const withSession = async <T>(
    run: (session: Session) => Promise<T>,
    onFailure: (reason: string) => T,
  ): Promise<T> => {
    opening ??= open().catch((error: unknown) => (error instanceof Error ? error.message : String(error)))
    const opened = await opening
    return typeof opened === 'string' ? onFailure(opened) : run(opened)
  }

  return {
    name: `ccxt:${name}`,
    preflight: (symbols) => {
      universe = symbols
      return withSession<readonly BrokerCheck[]>(
        ({ exchange }) => checkExchange(exchange, symbols, dependencies.leverageMax),
        (detail) => CHECK_NAMES.map((check) => ({ name: check, ok: false, detail })),
      )
    },
    stepsOf: (symbol) => {
      const contract = session?.exchange.contracts().get(canonicalSymbol(symbol))
      return contract?.isActive === true ? contract.steps : null
    },
    submit: (order, deadline) =>
      withSession<SubmitResult>(
        (opened) => opened.exchange.until(deadline, () => submitOrder(opened, order)),
        (reason) => ({ status: 'not_sent', reason, retryAfterMs: null }),
      ),
    cancel: (order, deadline) =>
      withSession<CancelResult>(
        (opened) => opened.exchange.until(deadline, () => cancelOrder(opened, order)),
        unclear,
      ),
    lookup: (order, deadline) =>
      withSession<LookupResult>(
        (opened) => opened.exchange.until(deadline, () => lookupOrder(opened, order)),
        unclear,
      ),
    stops:
      supportedVenue(name)?.restsStops === true
        ? {
            place: (stop, deadline) =>
              withSession<PlaceStopResult>(
                ({ exchange, stops }) => exchange.until(deadline, () => stops.place(stop)),
                (reason) => ({ status: 'not_sent', reason, retryAfterMs: null }),
              ),
            cancel: (stop, deadline) =>
              withSession<CancelStopResult>(
                ({ exchange, stops }) => exchange.until(deadline, () => stops.cancel(stop)),
                unclear,
              ),
            lookup: (stop, deadline) =>
              withSession<LookupStopResult>(
                ({ exchange, stops }) => exchange.until(deadline, () => stops.lookup(stop)),
                unclear,
              ),
            open: () =>
              withSession<readonly StopReport[] | null>(
                ({ stops }) => stops.open(universe),
                () => null,
              ),
          }
        : null,
    account: () =>
      withSession<BrokerAccount | null>(
        ({ readAccount }) => readAccount(universe),
        () => null,
      ),
    quotes: (symbols) =>
      withSession<readonly VenueQuote[]>(
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
  readonly readAccount: ReadAccount
  readonly stops: Stops
  readonly marginMode: MarginMode
}

const unclear = (reason: string): { readonly status: 'unclear'; readonly reason: string } => ({
  status: 'unclear',
  reason,
})

const rejected = (reason: string): SubmitResult => ({ status: 'rejected', reason })

/** Sends an order once, and returns what is known of it. The deadline of its caller holds for every request. */
const submitOrder = async (session: Session, order: BrokerOrder): Promise<SubmitResult> => {
  const { exchange, reports, marginMode } = session
  const { api, dialect, request } = exchange
  const notSent = (reason: string): SubmitResult => ({
    status: 'not_sent',
    reason,
    retryAfterMs: exchange.heldBackMs(),
  })
  const contract = await exchange.contractOf(order.symbol)
  if (contract.status !== 'done') return notSent(contract.reason)
  const { market, isActive } = contract.value
  if (!isActive) return notSent(`${market} is not traded any more`)
  const noteNotTraded = (code: string | null): boolean => {
    const isNotTraded = code !== null && dialect.codes.notTraded.has(code)
    if (isNotTraded) exchange.deactivate(order.symbol)
    return isNotTraded
  }
  const checked = requestOf(order, contract.value, dialect.clientOrderId)
  if (typeof checked === 'string') return notSent(checked)
  if (!order.reduceOnly) {
    const difference = await agreeMargin(exchange, contract.value, marginMode, order.leverage)
    if (difference !== null) {
      const isNotTraded = noteNotTraded(difference.code)
      return isNotTraded ? rejected(difference.reason) : notSent(difference.reason)
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
  if (reply.code !== null && dialect.codes.duplicate.has(reply.code)) return existingOrder(session, order)
  noteNotTraded(reply.code)
  switch (reply.status) {
    case 'refused':
      return rejected(reply.reason)
    case 'not_sent':
      return notSent(reply.reason)
    case 'unclear':
      return unclear(reply.reason)
  }
}

/**
 * Some exchanges acknowledge an order with its ids alone: it is theirs, and what became of it is looked up at once. What
 * is not known yet is asked for later, as with every open order.
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
  if (!isAcknowledged) return unclear(UNREADABLE)
  const found = await lookupOrder(session, order)
  if (found.status === 'found' && found.report.status === 'rejected')
    return rejected('the exchange accepted the order and then rejected it')
  if (found.status === 'found') return { status: 'accepted', report: found.report }
  return {
    status: 'accepted',
    report: { clientOrderId, venueOrderId, status: 'open', filledQuantity: NO_QUANTITY, fills: [] },
  }
}

const UNREADABLE = 'the response cannot be read'

interface OrderRequest {
  readonly amount: string
  readonly price: string | undefined
}

/** Amount and price on the steps of the exchange, or why nothing is sent. */
const requestOf = (order: BrokerOrder, contract: Contract, clientOrderIds: RegExp): OrderRequest | string => {
  const { quantityStep, priceStep, quantityMin, notionalMin } = contract.steps
  if (!clientOrderIds.test(order.clientOrderId)) return 'the exchange does not accept this client order id'
  const quantity = cutQuantity(order.quantity, quantityStep)
  if (quantity <= 0n || quantity < (quantityMin ?? 0n))
    return `the quantity is below the minimum of ${textOf(quantityMin ?? quantityStep)}`
  if (order.kind === 'market')
    return { amount: amountOf(withinMax(quantity, contract), contract), price: undefined }
  if (order.limitPrice === null) return 'a limit order needs a price'
  const price = safeLimit(order.limitPrice, priceStep, order.side)
  if (price <= 0n) return 'the price is below the smallest step of the exchange'
  // Orders that reduce a position are accepted at any size.
  const isTooSmall = notionalMin !== null && notionalOf(price, quantity) < notionalMin
  if (isTooSmall && !order.reduceOnly) return 'the value is below the minimum of the exchange'
  return { amount: amountOf(quantity, contract), price: textOf(price) }
}

/** The id is taken by an open order: it is the same order, sent before. */
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
      : reply.status === 'refused' && reply.code !== null && dialect.codes.noSuchOrder.has(reply.code)
  if (isMissing) return { status: 'not_found' }
  if (reply.status !== 'done') return unclear(reply.reason)
  const reported = reportedOrderOf(reply.value, clientOrderId, contract.value)
  if (reported === null) return unclear(UNREADABLE)
  return { status: 'found', report: await reports.withTrades(reported, contract.value) }
}

const cancelOrder = async (session: Session, { clientOrderId, symbol }: OrderName): Promise<CancelResult> => {
  const { exchange, reports } = session
  const { api, dialect, request } = exchange
  const contract = await exchange.contractOf(symbol)
  if (contract.status !== 'done') return unclear(contract.reason)
  const reply = await request(() => dialect.cancelOrder(api, contract.value, clientOrderId))
  const isGone =
    reply.status === 'refused' && reply.code !== null && dialect.codes.nothingToCancel.has(reply.code)
  if (isGone) return { status: 'not_open' }
  if (reply.status !== 'done') return unclear(reply.reason)
  const reported = reportedOrderOf(reply.value, clientOrderId, contract.value)
  if (reported !== null)
    return { status: 'canceled', report: await reports.withTrades(reported, contract.value) }
  // Acknowledged without what was filled before.
  const found = await lookupOrder(session, { clientOrderId, symbol })
  if (found.status === 'found' && found.report.status !== 'open' && found.report.status !== 'partial')
    return { status: 'canceled', report: found.report }
  return unclear('the cancellation was acknowledged, and the order is not known to have ended')
}
