import type { Command } from '../../core/decide.ts'
import type { Configuration } from '../../core/config/schema.ts'
import { hasStrandedExit } from '../../core/trading/retry-exits.ts'
import type { Order } from '../../core/trading/orders.ts'
import { openPositionsOf } from '../../core/trading/book.ts'
import { canonicalSymbol } from '../../core/shared/symbol.ts'
import type { Broker } from '../../ports/broker.ts'
import type { Timer } from '../../ports/timer.ts'
import type { Engine } from '../engine.ts'
import { AccountWatch } from './account-watch.ts'
import { cancelAtVenue, lookUp, sendOrder, type Finding, type VenueLine } from './ask-venue.ts'
import { Inquiries } from './inquiries.ts'
import { Lanes } from './lanes.ts'
import { nextAct, type Act } from './next-act.ts'
import { VenueWatch } from './venue-watch.ts'

export interface OrderDeskDependencies {
  readonly engine: Engine
  readonly broker: Broker
  /** As configured; orders of other venues are not touched. */
  readonly venue: string
  readonly timer: Timer
  readonly configuration: () => Configuration
  readonly onError: (what: string, error?: unknown) => void
}

/** How often it looks around by itself. */
const STEP_MS = 1000
const RECORD_ATTEMPTS = 3

/**
 * Drives a venue from what is stored. An order is sent once, after it is durable; whatever is unclear afterwards is
 * looked up, and sent again only after the venue did not have it. Only one process may do this on a log.
 */
export class OrderRouter {
  readonly #parts: OrderDeskDependencies
  readonly #lanes: Lanes
  readonly #inquiries: Inquiries
  readonly #watch: VenueWatch
  /** What this process has sent, with the number of the attempt: none is made twice. */
  readonly #sent = new Map<string, number>()
  readonly #closing = new AbortController()
  #running: Promise<unknown> = Promise.resolve()
  #isRetrying = false
  #stopListening: () => void = () => undefined

  constructor(parts: OrderDeskDependencies) {
    this.#parts = parts
    this.#lanes = new Lanes(() => this.#look())
    this.#inquiries = new Inquiries(() => {
      const { attempts, seconds } = parts.configuration().execution.lookups
      return { attempts, overMs: seconds * 1000 }
    })
    const symbols = (): readonly string[] => parts.configuration().universe.symbols
    const activityIn = (symbol: string): number => this.#lanes.activityIn(symbol)
    const account = new AccountWatch({ ...parts, symbols, activityIn })
    this.#watch = new VenueWatch({ ...parts, symbols, account, signal: this.#closing.signal })
  }

  /** What was under way when the process before this one ended is unknown, before anything is sent. */
  async start(): Promise<void> {
    const { engine } = this.#parts
    await this.#watch.begin()
    await engine.execute({ kind: 'mark-orders-unknown', reason: 'restart' })
    this.#stopListening = engine.feed.subscribe(({ events }) => {
      if (events.some(({ type }) => type.startsWith('execution.') || type === 'system.kill_switch.v1'))
        this.#look()
    })
    this.#running = Promise.all([this.#loop(), this.#watch.run()])
  }

  /** Waits for what is under way at the venue. */
  async close(): Promise<void> {
    this.#closing.abort()
    this.#stopListening()
    await this.#running
    await this.#lanes.settled()
    await this.#watch.end()
  }

  async #loop(): Promise<void> {
    const { timer } = this.#parts
    while (!this.#closing.signal.aborted) {
      this.#look()
      await this.#retryExits()
      await timer.wait(STEP_MS, this.#closing.signal)
    }
  }

  /** Starts whatever is next in every symbol in which nothing is under way. */
  #look(): void {
    if (this.#closing.signal.aborted) return
    const { engine, timer } = this.#parts
    const orders = this.#orders()
    this.#inquiries.forgetAllBut(orders)
    this.#forgetSentBut(orders)
    if (orders.length === 0) return
    const nowMs = timer.now()
    const facts = {
      level: engine.state.trading.killSwitch.level,
      nowMs,
      isAnyUnknown: orders.some(({ status }) => status === 'unknown'),
      wasSent: ({ id, resends }: Order) => (this.#sent.get(id) ?? -1) >= resends,
      isDue: (order: Order) => this.#inquiries.isDue(order, nowMs),
    }
    const acts = [...bySymbol(orders)].flatMap(([symbol, own]) => {
      const act = this.#lanes.isFree(symbol) ? nextAct(own, facts) : null
      return act === null ? [] : [{ symbol, act }]
    })
    // Exits first: there may be more symbols than lanes.
    for (const { symbol, act } of acts.toSorted((one, other) => urgency(other.act) - urgency(one.act))) {
      this.#lanes.start(symbol, () => this.#do(act))
    }
  }

  async #do(act: Act): Promise<void> {
    const { order } = act
    const { id: orderId } = order
    switch (act.kind) {
      case 'send':
        this.#sent.set(orderId, order.resends)
        return this.#record(await sendOrder(order, this.#line()))
      case 'withhold':
        return this.#record({ kind: 'record-unsent', orderId, reason: act.reason })
      case 'doubt':
        return this.#record({
          kind: 'mark-order-unknown',
          orderId,
          reason: 'the answer could not be recorded',
        })
      case 'cancel':
        this.#inquiries.begin(order, this.#parts.timer.now())
        return this.#take(order, await cancelAtVenue(order, this.#line()))
      case 'look-up':
      case 'sweep': {
        this.#inquiries.begin(order, this.#parts.timer.now())
        return this.#take(order, await lookUp(order, this.#line(), act.kind === 'look-up' ? 1 : null))
      }
    }
  }

  async #take(order: Order, finding: Finding): Promise<void> {
    const nowMs = this.#parts.timer.now()
    switch (finding.kind) {
      case 'record':
        this.#inquiries.answered(order, nowMs)
        return this.#record(finding.command)
      case 'unclear':
        return this.#inquiries.unclear(order, nowMs)
      case 'nothing-found': {
        const orderId = order.id
        if (order.status !== 'unknown')
          return this.#record({ kind: 'mark-order-unknown', orderId, reason: 'the venue does not have it' })
        const lookups = this.#inquiries.nothingFound(order, nowMs)
        if (lookups !== null) await this.#record({ kind: 'record-not-found', orderId, lookups })
      }
    }
  }

  /** What cannot be recorded now is found again by looking it up. */
  async #record(command: Command): Promise<void> {
    const { engine, timer, onError } = this.#parts
    for (let attempt = 1; ; attempt += 1) {
      try {
        await engine.execute(command)
        return
      } catch (error) {
        if (attempt >= RECORD_ATTEMPTS || this.#closing.signal.aborted)
          return onError(`what the venue said (${command.kind}) could not be stored`, error)
        await timer.wait(STEP_MS, this.#closing.signal)
      }
    }
  }

  /** What has ended cannot be sent any more. */
  #forgetSentBut(orders: readonly Order[]): void {
    const open = new Set(orders.map(({ id }) => id))
    for (const id of this.#sent.keys()) if (!open.has(id)) this.#sent.delete(id)
  }

  async #retryExits(): Promise<void> {
    const { engine } = this.#parts
    if (
      this.#isRetrying ||
      !openPositionsOf(engine.state.trading).some((one) => hasStrandedExit(engine.state.trading, one))
    )
      return
    this.#isRetrying = true
    await this.#record({ kind: 'retry-exits' })
    this.#isRetrying = false
  }

  #orders(): readonly Order[] {
    const { engine, venue } = this.#parts
    return [...engine.state.trading.orders.open.values()].filter((order) => order.venue === venue)
  }

  #line(): VenueLine {
    const { engine, broker, timer, configuration } = this.#parts
    const { execution, universe } = configuration()
    return {
      broker,
      timer,
      timeoutMs: execution.send_timeout_seconds * 1000,
      spelling: (symbol) =>
        universe.symbols.find((name) => canonicalSymbol(name) === canonicalSymbol(symbol)) ?? symbol,
      // The least there is, should nobody know any more: no position is nearer to its liquidation than was decided.
      leverageOf: ({ intentId }) => engine.state.trading.intents.get(intentId ?? '')?.intent.leverage ?? 1,
    }
  }
}

const bySymbol = (orders: readonly Order[]): ReadonlyMap<string, readonly Order[]> => {
  const groups = new Map<string, Order[]>()
  for (const order of orders) {
    const symbol = canonicalSymbol(order.symbol)
    const group = groups.get(symbol)
    if (group === undefined) groups.set(symbol, [order])
    else group.push(order)
  }
  return groups
}

const urgency = ({ kind, order }: Act): number => (order.isExit ? 2 : 0) + (kind === 'send' ? 1 : 0)
