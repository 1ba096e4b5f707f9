import type {
  Broker,
  BrokerFill,
  BrokerOrder,
  FundingPayment,
  CancelResult,
  LookupResult,
  OrderName,
  OrderReport,
  OrderSteps,
  RestingStops,
  StopReport,
  SubmitResult,
  VenuePosition,
} from '../../src/ports/broker.ts'
import {
  NO_QUANTITY,
  notionalOf,
  plus,
  priceFrom,
  quantityFrom,
  usdFrom,
  type Price,
  type Quantity,
  type Usd,
} from '../../src/core/shared/money.ts'

/** How the exchange handles the next order. */
export type Treatment =
  | 'fill'
  | 'fill-in-parts'
  /** A part is filled at once. The rest of an immediate order is canceled, the rest of a market order rests. */
  | 'fill-some'
  | 'fill-nothing'
  | 'refuse'
  /** The order is accepted, and the response is lost. */
  | 'fill-unclear'
  | 'fill-hang'
  | 'fill-throw'
  /** The order never arrives. */
  | 'lose'
  | 'lose-hang'
  /** The order is accepted, and its trades are listed a little later. */
  | 'trades-later'

export interface MemoryExchange extends Broker {
  /** Treatments of the next orders, in turn. Afterwards all orders are filled. */
  treat(...treatments: readonly Treatment[]): void
  /** Failures of the next lookups. Afterwards all lookups succeed. */
  failLookups(...kinds: readonly ('unclear' | 'hang' | 'throw' | 'unsupported')[]): void
  setPrice(symbol: string, price: number): void
  /** Fills the rest of all open orders. */
  fillResting(): void
  /** A trade outside the engine. */
  tradeByHand(symbol: string, quantity: number): void
  /** Charges funding for positions in the symbol. A negative amount is paid out. */
  takeFunding(symbol: string, usd: number): void
  readonly orders: ReadonlyMap<string, HeldOrder>
  /** Client order ids in the order of their arrival, including refused ones. */
  readonly arrivals: readonly string[]
  netOf(symbol: string): Quantity
  /** Number of orders that were sent again. An order whose first one has ended is placed a second time. */
  duplicates(): number
}

export interface HeldOrder {
  readonly order: BrokerOrder
  /** Trigger price of a stop, which rests until then. Null for all other orders. */
  readonly triggerPrice: Price | null
  status: OrderReport['status']
  readonly fills: BrokerFill[]
  /** Number of further lookups without its trades. */
  hiddenLookups: number
}

const STEPS: OrderSteps = {
  quantityStep: quantityFrom(0.001),
  quantityMin: quantityFrom(0.001),
  notionalMin: usdFrom(1),
  priceStep: priceFrom(0.01),
}

/** An exchange in memory that outlives the engines that trade on it. */
export const createMemoryExchange = (now: () => number, { restingStops = false } = {}): MemoryExchange => {
  const orders = new Map<string, HeldOrder>()
  const arrivals: string[] = []
  const prices = new Map<string, Price>()
  const nets = new Map<string, Quantity>()
  const treatments: Treatment[] = []
  const lookupFailures: string[] = []
  const fundings: FundingPayment[] = []
  let trades = 0
  let duplicates = 0

  /** A reducing order trades no more than the open position, and ends when that is closed. */
  const trade = (held: HeldOrder, wanted: Quantity): void => {
    const { order } = held
    const possible = order.reduceOnly ? reducible(order) : wanted
    const quantity = wanted < possible ? wanted : possible
    if (quantity <= 0n) return
    const price = prices.get(order.symbol) ?? priceFrom(100)
    const sign = order.side === 'buy' ? 1n : -1n
    nets.set(order.symbol, ((nets.get(order.symbol) ?? 0n) + sign * quantity) as Quantity)
    held.fills.push({
      venueTradeId: `trade-${(trades += 1)}`,
      price,
      quantity,
      feeUsd: (notionalOf(price, quantity) / 2000n) as Usd,
      atMs: now(),
    })
  }

  const take = (order: BrokerOrder, triggerPrice: Price | null, treatment: Treatment): HeldOrder => {
    const held: HeldOrder = {
      order,
      triggerPrice,
      status: 'open',
      fills: [],
      hiddenLookups: treatment === 'trades-later' ? 2 : 0,
    }
    orders.set(order.clientOrderId, held)
    if (triggerPrice !== null) return held
    const some = cut((order.quantity / 3n) as Quantity)
    const wanted = order.quantity
    if (treatment === 'fill-nothing') trade(held, 0n as Quantity)
    else if (treatment === 'fill-some') trade(held, some < wanted ? some : wanted)
    else if (treatment === 'fill-in-parts') {
      trade(held, some)
      trade(held, some)
      trade(held, (wanted - 2n * some) as Quantity)
    } else trade(held, wanted)
    held.status = statusOf(held, order.kind === 'immediate_limit' || hasNothingToReduce(order))
    return held
  }

  /** A stop whose price is reached sells the remaining position. */
  const trigger = (held: HeldOrder): void => {
    const { triggerPrice } = held
    const price = prices.get(held.order.symbol)
    if (held.status !== 'open' || triggerPrice === null || price === undefined) return
    if (held.order.side === 'sell' ? price > triggerPrice : price < triggerPrice) return
    trade(held, held.order.quantity)
    held.status = statusOf(held, true)
  }

  const hasNothingToReduce = (order: BrokerOrder): boolean => order.reduceOnly && reducible(order) === 0n

  const reducible = ({ symbol, side }: BrokerOrder): Quantity => {
    const net = nets.get(symbol) ?? 0n
    const closable = side === 'sell' ? net : -(net as bigint)
    return (closable > 0n ? closable : 0n) as Quantity
  }

  const reportOf = (held: HeldOrder): OrderReport => {
    const isHidden = held.hiddenLookups > 0
    if (isHidden) held.hiddenLookups -= 1
    return {
      clientOrderId: held.order.clientOrderId,
      venueOrderId: `venue-${held.order.clientOrderId}`,
      status: held.status,
      filledQuantity: filledOf(held),
      // Repeated and newest first: the order of fills is not guaranteed.
      fills: isHidden ? [] : [...held.fills, ...held.fills].toReversed(),
    }
  }

  const receive = (order: BrokerOrder, triggerPrice: Price | null): Promise<SubmitResult> => {
    const treatment = treatments.shift() ?? 'fill'
    if (treatment === 'lose') return Promise.resolve({ status: 'unclear', reason: 'connection reset' })
    if (treatment === 'lose-hang') return new Promise(() => undefined)
    arrivals.push(order.clientOrderId)
    // A venue may accept a second order under the same id once the first has ended. The engine must never send one.
    const known = orders.get(order.clientOrderId)
    if (known !== undefined) duplicates += 1
    if (known?.status === 'open' || known?.status === 'partial')
      return Promise.resolve({ status: 'unclear', reason: 'duplicate client order id' })
    if (treatment === 'refuse') return Promise.resolve({ status: 'rejected', reason: 'insufficient margin' })
    const held = take(order, triggerPrice, treatment)
    if (treatment === 'fill-unclear') return Promise.resolve({ status: 'unclear', reason: '502' })
    if (treatment === 'fill-hang') return new Promise(() => undefined)
    if (treatment === 'fill-throw') return Promise.reject(new Error('broken adapter'))
    return Promise.resolve({ status: 'accepted', report: reportOf(held) })
  }
  const cancel = ({ clientOrderId }: OrderName): Promise<CancelResult> => {
    const held = orders.get(clientOrderId)
    if (held === undefined || (held.status !== 'open' && held.status !== 'partial'))
      return Promise.resolve({ status: 'not_open' })
    held.status = 'canceled'
    return Promise.resolve({ status: 'canceled', report: reportOf(held) })
  }
  const lookup = ({ clientOrderId }: OrderName): Promise<LookupResult> => {
    const failure = lookupFailures.shift()
    if (failure === 'hang') return new Promise(() => undefined)
    if (failure === 'throw') return Promise.reject(new Error('broken adapter'))
    if (failure === 'unclear') return Promise.resolve({ status: 'unclear', reason: 'rate limit' })
    if (failure === 'unsupported') return Promise.resolve({ status: 'unsupported' })
    const held = orders.get(clientOrderId)
    return Promise.resolve(
      held === undefined ? { status: 'not_found' } : { status: 'found', report: reportOf(held) },
    )
  }

  const stopReport = (name: OrderName, report: OrderReport): StopReport => {
    const { side, quantity } = orders.get(name.clientOrderId)?.order ?? { side: 'buy', quantity: NO_QUANTITY }
    const triggerPrice = orders.get(name.clientOrderId)?.triggerPrice ?? priceFrom(0)
    const status =
      report.status === 'open' ? 'resting' : report.filledQuantity > 0n ? 'triggered' : 'canceled'
    const stop = { ...name, side, quantity, triggerPrice, venueOrderId: report.venueOrderId, status } as const
    return { ...stop, order: status === 'triggered' ? report : null }
  }

  const stops: RestingStops = {
    place: async ({ triggerPrice, ...stop }) => {
      const market = { ...stop, kind: 'market', limitPrice: null, reduceOnly: true, leverage: 1 } as const
      const result = await receive(market, triggerPrice)
      return result.status === 'accepted'
        ? { status: 'accepted', stop: stopReport(stop, result.report) }
        : result
    },
    cancel: async (name) => {
      const result = await cancel(name)
      return result.status === 'canceled' ? { status: 'canceled' } : result
    },
    lookup: async (name) => {
      const result = await lookup(name)
      if (result.status === 'unsupported') return { status: 'unclear', reason: 'unsupported' }
      return result.status === 'found' ? { status: 'found', stop: stopReport(name, result.report) } : result
    },
    open: () =>
      Promise.resolve(
        [...orders.values()]
          .filter(({ triggerPrice, status }) => triggerPrice !== null && status === 'open')
          .map((held) => stopReport(held.order, reportOf(held))),
      ),
  }

  return {
    name: 'exchange',
    stops: restingStops ? stops : null,
    orders,
    arrivals,
    treat: (...next) => void treatments.push(...next),
    failLookups: (...next) => void lookupFailures.push(...next),
    setPrice: (symbol, price) => {
      prices.set(symbol, priceFrom(price))
      for (const held of orders.values()) trigger(held)
    },
    netOf: (symbol) => (nets.get(symbol) ?? 0n) as Quantity,
    duplicates: () => duplicates,
    takeFunding: (symbol, usd) => {
      fundings.push({ id: `f${fundings.length}`, symbol, paidUsd: usdFrom(usd), atMs: now() })
    },
    tradeByHand: (symbol, quantity) =>
      void nets.set(symbol, plus(nets.get(symbol) ?? NO_QUANTITY, quantityFrom(quantity))),
    fillResting: () => {
      for (const held of orders.values()) {
        if (held.triggerPrice !== null) continue
        if (held.status !== 'open' && held.status !== 'partial') continue
        trade(held, (held.order.quantity - filledOf(held)) as Quantity)
        held.status = statusOf(held, true)
      }
    },
    preflight: () => Promise.resolve([{ name: 'reachable', ok: true, detail: 'the exchange responds' }]),
    stepsOf: () => STEPS,
    submit: (order) => receive(order, null),
    cancel,
    lookup,
    account: () => {
      const positions = [...nets].flatMap(([symbol, net]): readonly VenuePosition[] =>
        net === 0n
          ? []
          : [
              {
                symbol,
                direction: net > 0n ? 'long' : 'short',
                quantity: (net > 0n ? net : -(net as bigint)) as Quantity,
                entryPrice: prices.get(symbol) ?? priceFrom(100),
                leverage: 1,
              },
            ],
      )
      return Promise.resolve({ equity: usdFrom(10_000), positions, fundings })
    },
    history: () => Promise.resolve({ liquidations: [], fundings }),
    quotes: (symbols) =>
      Promise.resolve(symbols.map((symbol) => ({ symbol, price: prices.get(symbol) ?? priceFrom(100) }))),
    close: () => Promise.resolve(),
  }
}

const filledOf = ({ fills }: HeldOrder): Quantity =>
  fills.reduce((sum, { quantity }) => sum + quantity, 0n) as Quantity

const cut = (quantity: Quantity): Quantity => (quantity - (quantity % quantityFrom(0.001))) as Quantity

const statusOf = (held: HeldOrder, isImmediate: boolean): OrderReport['status'] => {
  const filled = filledOf(held)
  if (filled >= held.order.quantity) return 'filled'
  if (isImmediate) return 'canceled'
  return filled > 0n ? 'partial' : 'open'
}
