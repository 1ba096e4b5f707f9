import type {
  Broker,
  BrokerFill,
  BrokerOrder,
  FundingPayment,
  CancelResult,
  LookupResult,
  OrderReport,
  OrderSteps,
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
  /** Some of it at once; an immediate order is canceled for the rest, a market order rests. */
  | 'fill-some'
  | 'fill-nothing'
  | 'refuse'
  /** It accepts the order, and the response is lost. */
  | 'fill-unclear'
  | 'fill-hang'
  | 'fill-throw'
  /** The order never arrives. */
  | 'lose'
  | 'lose-hang'
  /** It accepts the order, and lists its trades a little later. */
  | 'trades-later'

export interface MemoryExchange extends Broker {
  /** Treatments of the next orders, in turn; afterwards all are filled. */
  treat(...treatments: readonly Treatment[]): void
  /** Failures of the next lookups; afterwards all succeed. */
  failLookups(...kinds: readonly ('unclear' | 'hang' | 'throw' | 'unsupported')[]): void
  setPrice(symbol: string, price: number): void
  /** Fills the rest of all open orders. */
  fillResting(): void
  /** A trade outside the engine. */
  tradeByHand(symbol: string, quantity: number): void
  /** Charges funding for positions in the symbol; below zero: pays it. */
  takeFunding(symbol: string, usd: number): void
  readonly orders: ReadonlyMap<string, HeldOrder>
  /** Client order ids in the order in which they arrived; refused ones too. */
  readonly arrivals: readonly string[]
  netOf(symbol: string): Quantity
  /** Orders that it had already, sent again. */
  duplicates(): number
}

export interface HeldOrder {
  readonly order: BrokerOrder
  status: OrderReport['status']
  readonly fills: BrokerFill[]
  /** How many more lookups come without its trades. */
  hiddenLookups: number
}

const STEPS: OrderSteps = {
  quantityStep: quantityFrom(0.001),
  quantityMin: quantityFrom(0.001),
  notionalMin: usdFrom(1),
  priceStep: priceFrom(0.01),
}

/** An exchange in memory that outlives the engines that trade on it. */
export const createMemoryExchange = (now: () => number): MemoryExchange => {
  const orders = new Map<string, HeldOrder>()
  const arrivals: string[] = []
  const prices = new Map<string, Price>()
  const nets = new Map<string, Quantity>()
  const treatments: Treatment[] = []
  const lookupFailures: string[] = []
  const fundings: FundingPayment[] = []
  let trades = 0
  let duplicates = 0

  const trade = (held: HeldOrder, quantity: Quantity): void => {
    if (quantity <= 0n) return
    const { order } = held
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

  const take = (order: BrokerOrder, treatment: Treatment): HeldOrder => {
    const held: HeldOrder = {
      order,
      status: 'open',
      fills: [],
      hiddenLookups: treatment === 'trades-later' ? 2 : 0,
    }
    orders.set(order.clientOrderId, held)
    const some = cut((order.quantity / 3n) as Quantity)
    const left = order.reduceOnly ? reducible(order) : order.quantity
    const wanted = left < order.quantity ? left : order.quantity
    if (treatment === 'fill-nothing') trade(held, 0n as Quantity)
    else if (treatment === 'fill-some') trade(held, some < wanted ? some : wanted)
    else if (treatment === 'fill-in-parts') {
      trade(held, some)
      trade(held, some)
      trade(held, (wanted - 2n * some) as Quantity)
    } else trade(held, wanted)
    held.status = statusOf(held, order.kind === 'immediate_limit')
    return held
  }

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
      // Repeated, and newest first: the order is not guaranteed.
      fills: isHidden ? [] : [...held.fills, ...held.fills].toReversed(),
    }
  }

  return {
    name: 'exchange',
    stops: null,
    orders,
    arrivals,
    treat: (...next) => void treatments.push(...next),
    failLookups: (...next) => void lookupFailures.push(...next),
    setPrice: (symbol, price) => void prices.set(symbol, priceFrom(price)),
    netOf: (symbol) => (nets.get(symbol) ?? 0n) as Quantity,
    duplicates: () => duplicates,
    takeFunding: (symbol, usd) => {
      fundings.push({ id: `f${fundings.length}`, symbol, paidUsd: usdFrom(usd), atMs: now() })
    },
    tradeByHand: (symbol, quantity) =>
      void nets.set(symbol, plus(nets.get(symbol) ?? NO_QUANTITY, quantityFrom(quantity))),
    fillResting: () => {
      for (const held of orders.values()) {
        if (held.status !== 'open' && held.status !== 'partial') continue
        trade(held, (held.order.quantity - filledOf(held)) as Quantity)
        held.status = 'filled'
      }
    },
    preflight: () => Promise.resolve([{ name: 'reachable', ok: true, detail: 'the exchange responds' }]),
    stepsOf: () => STEPS,
    submit: (order): Promise<SubmitResult> => {
      const treatment = treatments.shift() ?? 'fill'
      if (treatment === 'lose') return Promise.resolve({ status: 'unclear', reason: 'connection reset' })
      if (treatment === 'lose-hang') return new Promise(() => undefined)
      arrivals.push(order.clientOrderId)
      if (orders.has(order.clientOrderId)) {
        duplicates += 1
        return Promise.resolve({ status: 'unclear', reason: 'duplicate client order id' })
      }
      if (treatment === 'refuse')
        return Promise.resolve({ status: 'rejected', reason: 'insufficient margin' })
      const held = take(order, treatment)
      if (treatment === 'fill-unclear') return Promise.resolve({ status: 'unclear', reason: '502' })
      if (treatment === 'fill-hang') return new Promise(() => undefined)
      if (treatment === 'fill-throw') return Promise.reject(new Error('broken adapter'))
      return Promise.resolve({ status: 'accepted', report: reportOf(held) })
    },
    cancel: ({ clientOrderId }): Promise<CancelResult> => {
      const held = orders.get(clientOrderId)
      if (held === undefined || (held.status !== 'open' && held.status !== 'partial'))
        return Promise.resolve({ status: 'not_open' })
      held.status = 'canceled'
      return Promise.resolve({ status: 'canceled', report: reportOf(held) })
    },
    lookup: ({ clientOrderId }): Promise<LookupResult> => {
      const failure = lookupFailures.shift()
      if (failure === 'hang') return new Promise(() => undefined)
      if (failure === 'throw') return Promise.reject(new Error('broken adapter'))
      if (failure === 'unclear') return Promise.resolve({ status: 'unclear', reason: 'rate limit' })
      if (failure === 'unsupported') return Promise.resolve({ status: 'unsupported' })
      const held = orders.get(clientOrderId)
      return Promise.resolve(
        held === undefined ? { status: 'not_found' } : { status: 'found', report: reportOf(held) },
      )
    },
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
