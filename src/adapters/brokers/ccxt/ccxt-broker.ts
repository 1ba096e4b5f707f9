import { notionalOf } from '../../../core/shared/money.ts'
import { canonicalSymbol } from '../../../core/shared/symbol.ts'
import type {
  Broker,
  BrokerAccount,
  BrokerCheck,
  BrokerOrder,
  CancelResult,
  LookupResult,
  OrderName,
  SubmitResult,
  VenueQuote,
} from '../../../ports/broker.ts'
import type { Timer } from '../../../ports/timer.ts'
import { createAccountReader, type ReadAccount } from './account.ts'
import type { Contract } from './contracts.ts'
import { cutQuantity, safeLimit, textOf } from './decimals.ts'
import { findsByClientOrderId, openExchange, type Exchange } from './exchange.ts'
import { checkExchange, CHECK_NAMES } from './preflight.ts'
import { readQuotes } from './quotes.ts'
import { createReports, reportedOrderOf, type Reports } from './reports.ts'
import {
  DUPLICATE,
  NO_SUCH_ORDER,
  NOT_TRADED_CODES,
  UNKNOWN_TO_CANCEL,
  type BrokerCredentials,
} from './verdict.ts'

export interface CcxtBrokerDependencies {
  /** As the library names it: `binanceusdm`; with `-sandbox` after it for a practice account. */
  readonly exchange: string
  readonly credentials: BrokerCredentials
  /** The most that positions may have: whether the account is large enough for the smallest orders depends on it. */
  readonly leverageMax: number
  readonly timer: Timer
  /** Replaces the exchange's own hosts, each of which becomes the first part of a path here. */
  readonly baseUrl?: string
  readonly requestTimeoutMs?: number
  /** Time for one request of weight 1; by default what the library knows of the exchange. */
  readonly rateLimitMs?: number
  /** The exchange refuses requests that arrive later than this; 5 s by default. */
  readonly acceptanceWindowMs?: number
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
    const readAccount = createAccountReader(exchange, name, reports, timer)
    session = { exchange, reports, readAccount, findsByClientOrderId: findsByClientOrderId(name) }
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
    stops: null,
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
  readonly findsByClientOrderId: boolean
}

const unclear = (reason: string): { readonly status: 'unclear'; readonly reason: string } => ({
  status: 'unclear',
  reason,
})

const rejected = (reason: string): SubmitResult => ({ status: 'rejected', reason })

/** Sends an order once, and returns what is known of it. The deadline of its caller holds for every request. */
const submitOrder = async (session: Session, order: BrokerOrder): Promise<SubmitResult> => {
  const { exchange, reports } = session
  const notSent = (reason: string): SubmitResult => ({
    status: 'not_sent',
    reason,
    retryAfterMs: exchange.heldBackMs(),
  })
  const contract = await exchange.contractOf(order.symbol)
  if (contract.status !== 'done') return notSent(contract.reason)
  const { market, isActive } = contract.value
  if (!isActive) return notSent(`${market} is not traded any more`)
  const request = requestOf(order, contract.value)
  if (typeof request === 'string') return notSent(request)
  if (!order.reduceOnly) {
    const set = await exchange.setLeverage(market, order.leverage)
    if (set.status !== 'done') return notSent(`the leverage could not be set: ${set.reason}`)
  }
  const { clientOrderId } = order
  const type = order.kind === 'market' ? 'market' : 'limit'
  const params = {
    clientOrderId,
    ...(type === 'limit' ? { timeInForce: 'IOC' } : {}),
    ...(order.reduceOnly ? { reduceOnly: true } : {}),
  }
  const reply = await exchange.request(() =>
    exchange.api.createOrder(market, type, order.side, request.amount, request.price, params),
  )
  if (reply.status === 'done') {
    const reported = reportedOrderOf(reply.value, clientOrderId)
    if (reported === null) return unclear(UNREADABLE)
    if (reported.status === 'rejected')
      return rejected('the exchange accepted the order and then rejected it')
    return { status: 'accepted', report: await reports.withTrades(reported, contract.value) }
  }
  if (reply.code === DUPLICATE) return existingOrder(session, order)
  if (reply.code !== null && NOT_TRADED_CODES.has(reply.code)) exchange.deactivate(order.symbol)
  switch (reply.status) {
    case 'refused':
      return rejected(reply.reason)
    case 'not_sent':
      return notSent(reply.reason)
    case 'unclear':
      return unclear(reply.reason)
  }
}

const UNREADABLE = 'the response cannot be read'

interface OrderRequest {
  readonly amount: string
  readonly price: string | undefined
}

/** Amount and price on the steps of the exchange, or why nothing is sent. */
const requestOf = (order: BrokerOrder, contract: Contract): OrderRequest | string => {
  const { quantityStep, priceStep, quantityMin, notionalMin } = contract.steps
  if (!CLIENT_ORDER_ID.test(order.clientOrderId)) return 'the exchange does not accept this client order id'
  const quantity = cutQuantity(order.quantity, quantityStep)
  if (quantity <= 0n || quantity < (quantityMin ?? 0n))
    return `the quantity is below the minimum of ${textOf(quantityMin ?? quantityStep)}`
  if (order.kind === 'market') return { amount: textOf(quantity), price: undefined }
  if (order.limitPrice === null) return 'a limit order needs a price'
  const price = safeLimit(order.limitPrice, priceStep, order.side)
  if (price <= 0n) return 'the price is below the smallest step of the exchange'
  // Orders that reduce a position are accepted at any size.
  const isTooSmall = notionalMin !== null && notionalOf(price, quantity) < notionalMin
  if (isTooSmall && !order.reduceOnly) return 'the value is below the minimum of the exchange'
  return { amount: textOf(quantity), price: textOf(price) }
}

/** What Binance accepts; others accept more. */
const CLIENT_ORDER_ID = /^[.A-Z:/a-z0-9_-]{1,36}$/

/** The id is taken by an open order: it is the same order, sent before. */
const existingOrder = async (session: Session, order: BrokerOrder): Promise<SubmitResult> => {
  const found = await lookupOrder(session, order)
  if (found.status === 'found') return { status: 'accepted', report: found.report }
  return unclear('the exchange has an open order with this client order id')
}

const lookupOrder = async (session: Session, { clientOrderId, symbol }: OrderName): Promise<LookupResult> => {
  const { exchange, reports } = session
  if (!session.findsByClientOrderId) return { status: 'unsupported' }
  const contract = await exchange.contractOf(symbol)
  if (contract.status !== 'done') return unclear(contract.reason)
  const { market } = contract.value
  const reply = await exchange.request(() => exchange.api.fetchOrder('', market, { clientOrderId }))
  if (reply.status === 'refused' && reply.code === NO_SUCH_ORDER) return { status: 'not_found' }
  if (reply.status !== 'done') return unclear(reply.reason)
  const reported = reportedOrderOf(reply.value, clientOrderId)
  if (reported === null) return unclear(UNREADABLE)
  return { status: 'found', report: await reports.withTrades(reported, contract.value) }
}

const cancelOrder = async (
  { exchange, reports }: Session,
  { clientOrderId, symbol }: OrderName,
): Promise<CancelResult> => {
  const contract = await exchange.contractOf(symbol)
  if (contract.status !== 'done') return unclear(contract.reason)
  const { market } = contract.value
  const reply = await exchange.request(() => exchange.api.cancelOrder('', market, { clientOrderId }))
  if (reply.status === 'refused' && reply.code === UNKNOWN_TO_CANCEL) return { status: 'not_open' }
  if (reply.status !== 'done') return unclear(reply.reason)
  const reported = reportedOrderOf(reply.value, clientOrderId)
  if (reported === null) return unclear(UNREADABLE)
  return { status: 'canceled', report: await reports.withTrades(reported, contract.value) }
}
