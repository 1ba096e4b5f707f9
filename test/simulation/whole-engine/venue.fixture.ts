import { BookKeeper } from './book-keeper.fixture.ts'
import type { Market } from './market.fixture.ts'
import type { World } from './world.fixture.ts'

/** An order as it arrives, in units of 1e-8. */
export interface OrderRequest {
  readonly clientOrderId: string
  readonly symbol: string
  readonly side: 'buy' | 'sell'
  /** Null for a market order. */
  readonly limit: bigint | null
  readonly quantity: bigint
  readonly reduceOnly: boolean
  /** Time by the sender's clock. A request older than the window is refused. */
  readonly sentMs: number
}

export interface Trade {
  readonly id: string
  readonly symbol: string
  readonly side: 'buy' | 'sell'
  readonly price: bigint
  readonly quantity: bigint
  /** Fee in 1e-6 USD. */
  readonly fee: bigint
  readonly atMs: number
}

export interface PlacedOrder {
  readonly id: string
  readonly request: OrderRequest
  status: 'open' | 'partial' | 'filled' | 'canceled'
  readonly trades: Trade[]
  /** Time until which queries do not show the order. */
  readonly hiddenUntilMs: number
  /** Time from which its trades are listed. */
  readonly tradesFromMs: number
}

/** A stop that rests until the price reaches it. Its order is filled like any other order. */
export interface PlacedStop {
  readonly id: string
  readonly request: OrderRequest
  readonly triggerPrice: bigint
  status: 'resting' | 'triggered' | 'canceled'
  order: PlacedOrder | null
  readonly hiddenUntilMs: number
}

export interface ForcedClose extends Trade {
  readonly direction: 'long' | 'short'
}

export interface Payment {
  readonly id: string
  readonly symbol: string
  /** Funding in 1e-6 USD; positive if paid. */
  readonly paid: bigint
  readonly atMs: number
}

/** Maximum age of a request on arrival. Shorter than the time for which the engine looks for an order. */
const ACCEPTANCE_MS = 20_000
const CENT = 1_000_000n
export const QUANTITY_STEP = 100_000n
export const START_USD = 10_000_000_000n

/**
 * A venue with strict behaviour of its own: it matches orders at the market's price, and places every order that
 * arrives, even a second one under the same client order id. It is independent of the engine's code.
 */
export class Venue {
  readonly books = new BookKeeper(START_USD)
  readonly orders: PlacedOrder[] = []
  readonly stops: PlacedStop[] = []
  readonly forced: ForcedClose[] = []
  readonly payments: Payment[] = []
  /** Number of liquidations that are not listed. */
  silentCloses = 0
  /** Time of the last change at the venue. */
  changedMs = 0
  readonly #world: World
  readonly #market: Market
  readonly #entries = new Map<string, bigint>()
  /** Orders that stops sent, which are not orders of the engine. */
  readonly #triggered: PlacedOrder[] = []
  #trades = 0

  constructor(world: World, market: Market) {
    this.#world = world
    this.#market = market
  }

  priceOf(symbol: string): bigint {
    return BigInt(this.#market.centsOf(symbol)) * CENT
  }

  /** The price of the newest trade that opened or added. It is close enough to the entry price of real venues. */
  entryOf(symbol: string): bigint {
    return this.#entries.get(symbol) ?? this.priceOf(symbol)
  }

  place(request: OrderRequest): PlacedOrder | { readonly refused: string } {
    const world = this.#world
    const random = world.random('venue')
    const { symbol, side, quantity, limit, reduceOnly } = request
    if (world.nowMs - request.sentMs > ACCEPTANCE_MS) return { refused: 'outside of the receive window' }
    if (quantity <= 0n || quantity % QUANTITY_STEP !== 0n) return { refused: 'wrong precision' }
    if (world.goesWrong('refusals', 0.05)) return { refused: 'margin is insufficient' }
    const closable = side === 'sell' ? this.books.netOf(symbol) : -this.books.netOf(symbol)
    if (reduceOnly && closable <= 0n) return { refused: 'reduce-only order is rejected' }
    const order: PlacedOrder = {
      id: `v${this.orders.length + 1}`,
      request,
      status: 'open',
      trades: [],
      hiddenUntilMs: world.goesWrong('hidden_orders', 0.1) ? world.nowMs + random.below(8000) : 0,
      tradesFromMs: world.goesWrong('late_trades', 0.15) ? world.nowMs + random.below(12_000) : 0,
    }
    const twin = this.orders.some((other) => other.request.clientOrderId === request.clientOrderId)
    world.expect(!twin, `the venue was asked twice for order ${request.clientOrderId}`)
    this.orders.push(order)
    world.count(reduceOnly ? 'exits placed' : 'entries placed')
    const wanted = reduceOnly && closable < quantity ? closable : quantity
    this.#match(order, wanted, limit)
    return order
  }

  cancel(clientOrderId: string): PlacedOrder | null {
    const order = this.#open().find(({ request }) => request.clientOrderId === clientOrderId)
    if (order === undefined) return null
    order.status = 'canceled'
    this.#world.count('orders canceled')
    return order
  }

  find(clientOrderId: string): PlacedOrder | null {
    const { nowMs } = this.#world
    return (
      this.orders.find(
        ({ request, hiddenUntilMs }) => request.clientOrderId === clientOrderId && hiddenUntilMs <= nowMs,
      ) ?? null
    )
  }

  placeStop(request: OrderRequest, triggerPrice: bigint): PlacedStop | { readonly refused: string } {
    const world = this.#world
    const { clientOrderId, symbol, side, quantity } = request
    if (world.nowMs - request.sentMs > ACCEPTANCE_MS) return { refused: 'outside of the receive window' }
    if (quantity <= 0n || quantity % QUANTITY_STEP !== 0n) return { refused: 'wrong precision' }
    if (world.goesWrong('refusals', 0.05)) return { refused: 'too many stops' }
    if (isReached(this.priceOf(symbol), triggerPrice, side)) return { refused: 'would be triggered at once' }
    const twin = this.stops.some((other) => other.request.clientOrderId === clientOrderId)
    world.expect(!twin, `the venue was asked twice for stop ${clientOrderId}`)
    const stop: PlacedStop = {
      id: `s${this.stops.length + 1}`,
      request,
      triggerPrice,
      status: 'resting',
      order: null,
      hiddenUntilMs: world.goesWrong('hidden_orders', 0.1)
        ? world.nowMs + world.random('venue').below(8000)
        : 0,
    }
    this.stops.push(stop)
    world.count('stops placed')
    return stop
  }

  cancelStop(clientOrderId: string): boolean {
    const stop = this.restingStops().find(({ request }) => request.clientOrderId === clientOrderId)
    if (stop === undefined) return false
    stop.status = 'canceled'
    return true
  }

  findStop(clientOrderId: string): PlacedStop | null {
    const { nowMs } = this.#world
    const found = this.stops.find(
      ({ request, hiddenUntilMs }) => request.clientOrderId === clientOrderId && hiddenUntilMs <= nowMs,
    )
    return found ?? null
  }

  restingStops(): readonly PlacedStop[] {
    return this.stops.filter(({ status }) => status === 'resting')
  }

  /** Triggers stops. Call it after prices have moved. */
  triggerStops(): void {
    for (const stop of this.restingStops()) {
      const { request, triggerPrice, id } = stop
      if (!isReached(this.priceOf(request.symbol), triggerPrice, request.side)) continue
      const net = this.books.netOf(request.symbol)
      const closable = request.side === 'sell' ? net : -net
      if (closable <= 0n) {
        stop.status = 'canceled'
        continue
      }
      const order: PlacedOrder = {
        id: `${id}-order`,
        request,
        status: 'open',
        trades: [],
        hiddenUntilMs: 0,
        tradesFromMs: 0,
      }
      stop.status = 'triggered'
      stop.order = order
      this.#triggered.push(order)
      this.#world.count('stops triggered at the venue')
      this.#match(order, closable < request.quantity ? closable : request.quantity, null)
    }
  }

  /**
   * Liquidates a position at a price that is this many percent worse than the current one, optionally without listing
   * it.
   */
  liquidate(symbol: string, { worsePercent = 0n, isListed = true } = {}): void {
    const net = this.books.netOf(symbol)
    if (net === 0n) return
    for (const order of this.#open()) if (order.request.symbol === symbol) order.status = 'canceled'
    for (const stop of this.restingStops()) if (stop.request.symbol === symbol) stop.status = 'canceled'
    const side = net > 0n ? 'sell' : 'buy'
    const worse = (this.priceOf(symbol) * worsePercent) / 100n
    const price = this.priceOf(symbol) + (side === 'buy' ? worse : -worse)
    const trade = this.#traded(symbol, side, net > 0n ? net : -net, price - (price % CENT))
    if (isListed) this.forced.push({ ...trade, direction: net > 0n ? 'long' : 'short' })
    else this.silentCloses += 1
    this.#world.count(isListed ? 'liquidations' : 'silent closes')
  }

  /** A symbol with a position; undefined if there is none. */
  heldSymbol(): string | undefined {
    return this.#market.symbols.find((symbol) => this.books.netOf(symbol) !== 0n)
  }

  /** Charges funding. `microsPerUnit` is the amount that the holder of a long pays. */
  chargeFunding(symbol: string, microsPerUnit: bigint): void {
    const net = this.books.netOf(symbol)
    const paid = (net * microsPerUnit) / 100_000_000n
    if (paid === 0n) return
    const { nowMs } = this.#world
    this.changedMs = nowMs
    this.payments.push({ id: `f${this.payments.length + 1}`, symbol, paid, atMs: Math.floor(nowMs) })
    this.books.fund(symbol, paid)
    this.#world.count('funding payments')
  }

  /**
   * Immediate orders end with the quantity they get. Market orders get the rest a little later, perhaps in parts again.
   */
  #match(order: PlacedOrder, wanted: bigint, limit: bigint | null): void {
    const world = this.#world
    const { symbol, side } = order.request
    const price = this.priceOf(symbol)
    const isBeyond = limit !== null && (side === 'buy' ? price > limit : price < limit)
    if (!isBeyond) this.#fill(order, this.#partOf(wanted))
    if (limit === null) {
      const isLeftOpen = filledOf(order) < wanted && world.goesWrong('exits_left_open', 0.3)
      if (!isLeftOpen) this.#matchRest(order, wanted - filledOf(order))
      return
    }
    this.#endEarly(symbol, filledOf(order))
    if (filledOf(order) >= wanted) return
    order.status = 'canceled'
    world.count('entries cut short')
  }

  /** At random, ends the position of an entry before any process has read the account. */
  #endEarly(symbol: string, filled: bigint): void {
    const world = this.#world
    if (filled === 0n || !world.goesWrong('early_liquidations', 0.2)) return
    const random = world.random('early')
    world.schedule(1 + random.below(8000), `early liquidation of ${symbol}`, null, () =>
      this.liquidate(symbol, { worsePercent: BigInt(random.below(40)) }),
    )
  }

  #matchRest(order: PlacedOrder, left: bigint): void {
    if (left <= 0n) return
    const { symbol, side, quantity } = order.request
    const delayMs = 200 + this.#world.random('venue').below(9000)
    this.#world.schedule(delayMs, `rest of ${order.id}`, null, () => {
      if (order.status !== 'open' && order.status !== 'partial') return
      const net = this.books.netOf(symbol)
      const closable = side === 'sell' ? net : -net
      const rest = closable < left ? closable : left
      const part = this.#partOf(rest)
      this.#fill(order, part)
      if (part < rest) this.#matchRest(order, rest - part)
      else if (filledOf(order) < quantity) order.status = 'canceled'
    })
  }

  #partOf(wanted: bigint): bigint {
    const isPartial = wanted >= 4n * QUANTITY_STEP && this.#world.goesWrong('partial_fills', 0.5)
    return isPartial ? cut((wanted * BigInt(10 + this.#world.random('venue').below(80))) / 100n) : wanted
  }

  #fill(order: PlacedOrder, quantity: bigint): void {
    if (quantity <= 0n) return
    const { symbol, side } = order.request
    order.trades.push(this.#traded(symbol, side, quantity))
    this.#world.count('fills')
    // A reducing order that is larger than the position ends when the position is closed.
    order.status = filledOf(order) >= order.request.quantity ? 'filled' : 'partial'
    if (this.books.netOf(symbol) !== 0n) return
    // Nothing is left to reduce, so the other reducing orders end, too.
    for (const other of this.#open())
      if (other.request.reduceOnly && other.request.symbol === symbol) other.status = 'canceled'
  }

  #traded(
    symbol: string,
    side: 'buy' | 'sell',
    quantity: bigint,
    quote: bigint = this.priceOf(symbol),
  ): Trade {
    const { nowMs } = this.#world
    const random = this.#world.random('venue')
    // A few cents of slippage.
    const slip = BigInt(random.below(4)) * CENT
    const price = quote + (side === 'buy' ? slip : -slip)
    const fee = (price * quantity * 5n) / 10n ** 14n + 1n
    const before = this.books.netOf(symbol)
    this.#trades += 1
    this.changedMs = nowMs
    const trade = { id: `t${this.#trades}`, symbol, side, price, quantity, fee, atMs: Math.floor(nowMs) }
    this.books.trade(trade)
    if (before === 0n) this.#entries.set(symbol, price)
    return trade
  }

  #open(): readonly PlacedOrder[] {
    return [...this.orders, ...this.#triggered].filter(
      ({ status }) => status === 'open' || status === 'partial',
    )
  }
}

export const filledOf = ({ trades }: PlacedOrder): bigint =>
  trades.reduce((sum, { quantity }) => sum + quantity, 0n)

const isReached = (price: bigint, trigger: bigint, side: 'buy' | 'sell'): boolean =>
  side === 'sell' ? price <= trigger : price >= trigger

const cut = (quantity: bigint): bigint => quantity - (quantity % QUANTITY_STEP)
