import type { CanonicalSymbol, OrderId } from '../../core/shared/brand.ts'
import type { Command } from '../../core/decide.ts'
import type { Configuration } from '../../core/config/schema.ts'
import { hasStrandedExit } from '../../core/trading/positions/exits.ts'
import { overdueExits } from '../../core/trading/positions/overdue-exits.ts'
import {
  intentOf,
  isAtRest,
  isEntry,
  isExit,
  isUnknown,
  type OpenOrder,
} from '../../core/trading/orders/orders.ts'
import { isProtectionDue } from '../../core/trading/positions/protective-stops.ts'
import { timestampAt } from '../../core/shared/time.ts'
import { openPositionsOf } from '../../core/trading/positions/book.ts'
import { canonicalSymbol } from '../../core/shared/symbol.ts'
import type { Broker } from '../../ports/broker.ts'
import type { Timer } from '../../ports/timer.ts'
import type { LeadingEngine } from '../leading-engine.ts'
import { Lookups, nextStep, reasonNotToSend, type OrderStep } from './next-step.ts'
import {
  cancelAtVenue,
  lookUp,
  sendOrder,
  type VenueCallResult,
  type VenueConnection,
} from './venue-calls.ts'
import { VenueMonitor } from './venue-monitor.ts'

export interface OrderRouterDependencies {
  readonly engine: LeadingEngine
  readonly broker: Broker
  /** Whether no other process can lead yet. No step is started otherwise. */
  readonly isLeading: () => boolean
  /** Venue from the configuration. Orders of other venues are ignored. */
  readonly venue: string
  readonly timer: Timer
  readonly configuration: () => Configuration
  readonly onError: (what: string, error?: unknown) => void
}

/** Interval at which orders are checked without an event. */
const STEP_MS = 1000
const RECORD_ATTEMPTS = 3

/**
 * Sends stored orders to a venue. An order is sent once, after it is durable. If its state is unclear it is looked up,
 * and sent again only if the venue does not have it. Only one process per log may do this.
 */
export class OrderRouter {
  readonly #dependencies: OrderRouterDependencies
  readonly #lanes: Lanes
  readonly #lookups: Lookups
  readonly #venueMonitor: VenueMonitor
  /** Orders that this process has sent, with the number of the attempt. No attempt is sent twice. */
  readonly #sent = new Map<OrderId, number>()
  readonly #closing = new AbortController()
  #running: Promise<unknown> = Promise.resolve()
  #isRetrying = false
  #unsubscribe: () => void = () => undefined

  constructor(dependencies: OrderRouterDependencies) {
    const { configuration } = dependencies
    this.#dependencies = dependencies
    this.#lanes = new Lanes(() => this.#startNextSteps())
    this.#lookups = new Lookups(
      () => {
        const { attempts, seconds } = configuration().execution.lookups
        return { attempts, overMs: seconds * 1000 }
      },
      ({ positionId }) => {
        const position = dependencies.engine.state.trading.positions.get(positionId)
        return position?.status === 'closing' ? position.exit.orderId : ''
      },
    )
    this.#venueMonitor = new VenueMonitor({
      ...dependencies,
      symbols: () => configuration().universe.symbols,
      activityIn: (symbol) => this.#lanes.activityIn(symbol),
      isBusy: (symbol) => !this.#lanes.isIdle(symbol),
      onDiffering: (symbols) => this.#askAboutStops(symbols),
      signal: this.#closing.signal,
    })
  }

  /** Marks orders that an earlier process was sending as unknown, before anything is sent. */
  async start(): Promise<void> {
    const { engine } = this.#dependencies
    await this.#venueMonitor.begin()
    await engine.execute({ kind: 'mark-orders-unknown', reason: 'restart' })
    this.#unsubscribe = engine.eventBus.subscribe(({ events }) => {
      if (events.some(({ type }) => type.startsWith('execution.') || type === 'system.kill_switch.v1'))
        this.#startNextSteps()
    })
    this.#running = Promise.all([this.#loop(), this.#venueMonitor.run()])
  }

  /** Waits for running calls to the venue. */
  async close(): Promise<void> {
    this.#closing.abort()
    this.#unsubscribe()
    await this.#running
    await this.#lanes.settled()
    // The next leader starts by recording that the venue is not checked yet.
    if (this.#dependencies.isLeading()) await this.#venueMonitor.end()
  }

  async #loop(): Promise<void> {
    const { timer } = this.#dependencies
    while (!this.#closing.signal.aborted) {
      this.#startNextSteps()
      await this.#retryExits()
      await this.#keepStops()
      await timer.wait(STEP_MS, this.#closing.signal)
    }
  }

  /** Starts the next step in every symbol without a running step. */
  #startNextSteps(): void {
    const { engine, timer, isLeading } = this.#dependencies
    if (this.#closing.signal.aborted || !isLeading()) return
    const orders = this.#orders()
    this.#lookups.forgetAllBut(orders)
    this.#forgetSentBut(orders)
    if (orders.length === 0) return
    const nowMs = timer.now()
    const facts = {
      level: engine.state.trading.killSwitch.level,
      nowMs,
      isAnyUnknown: orders.some(({ status }) => status === 'unknown'),
      wasSent: ({ id, resends }: OpenOrder) => (this.#sent.get(id) ?? -1) >= resends,
      isDue: (order: OpenOrder) => this.#lookups.isDue(order, nowMs),
    }
    const steps = [...bySymbol(orders)].flatMap(([symbol, own]) => {
      const step = this.#lanes.isFree(symbol) ? nextStep(own, facts) : null
      return step === null ? [] : [{ symbol, step }]
    })
    // Exits come first, since there may be more symbols than lanes.
    for (const { symbol, step } of steps.toSorted((one, other) => urgency(other.step) - urgency(one.step))) {
      this.#lanes.start(symbol, () => this.#take(step))
    }
  }

  async #take(step: OrderStep): Promise<void> {
    const { order } = step
    const { id: orderId } = order
    switch (step.kind) {
      case 'send':
        this.#sent.set(orderId, order.resends)
        return this.#record(await sendOrder(order, this.#connection(), () => this.#reasonNotToSend(orderId)))
      case 'withhold':
        return this.#record({ kind: 'record-unsent', orderId, reason: step.reason })
      case 'mark-unknown':
        return this.#record({
          kind: 'mark-order-unknown',
          orderId,
          reason: 'the answer could not be recorded',
        })
      case 'cancel':
        this.#lookups.begin(order, this.#dependencies.timer.now())
        return this.#handle(order, await cancelAtVenue(order, this.#connection()))
      case 'look-up':
      case 'sweep': {
        this.#lookups.begin(order, this.#dependencies.timer.now())
        return this.#handle(
          order,
          await lookUp(order, this.#connection(), step.kind === 'look-up' ? 1 : null),
        )
      }
    }
  }

  /** Reason not to send the order now. The state may have changed since the step was chosen. */
  #reasonNotToSend(id: OrderId): string | null {
    const { engine, timer } = this.#dependencies
    const { orders, killSwitch } = engine.state.trading
    const order = orders.open.get(id)
    if (order === undefined) return 'it has ended'
    const forbidden = reasonNotToSend(order, { level: killSwitch.level, nowMs: timer.now() })
    if (forbidden !== null || !isEntry(order)) return forbidden
    // An entry must not be sent once another order has become unknown, because the held quantity is then uncertain.
    return this.#orders().some((other) => other.id !== id && isUnknown(other)) ? 'order_unknown' : null
  }

  async #handle(order: OpenOrder, finding: VenueCallResult): Promise<void> {
    const nowMs = this.#dependencies.timer.now()
    switch (finding.kind) {
      case 'record':
        this.#lookups.answered(order, nowMs)
        return this.#record(finding.command)
      case 'unclear':
        this.#lookups.unclear(order, nowMs)
        if (order.status !== 'unknown' || !isExit(order)) return
        return this.#record({ kind: 'record-unclear-lookup', orderId: order.id, reason: finding.reason })
      case 'nothing-found': {
        const orderId = order.id
        if (order.status !== 'unknown')
          return this.#record({ kind: 'mark-order-unknown', orderId, reason: 'the venue does not have it' })
        const lookups = this.#lookups.nothingFound(order, nowMs)
        if (lookups !== null) await this.#record({ kind: 'record-not-found', orderId, lookups })
      }
    }
  }

  /** Records a report. A report that cannot be stored is found again by a lookup. */
  async #record(command: Command): Promise<void> {
    const { engine, timer, onError } = this.#dependencies
    for (let attempt = 1; ; attempt += 1) {
      try {
        await engine.execute(command)
        return
      } catch (error) {
        if (attempt >= RECORD_ATTEMPTS || this.#closing.signal.aborted)
          return onError(`could not store the venue's answer (${command.kind})`, error)
        await timer.wait(STEP_MS, this.#closing.signal)
      }
    }
  }

  /** Drops orders that have ended, which are never sent again. */
  #forgetSentBut(orders: readonly OpenOrder[]): void {
    const open = new Set(orders.map(({ id }) => id))
    for (const id of this.#sent.keys()) if (!open.has(id)) this.#sent.delete(id)
  }

  /**
   * Looks up the stops of these symbols, because a changed quantity at the venue may mean that a stop was triggered.
   */
  #askAboutStops(symbols: readonly CanonicalSymbol[]): void {
    for (const order of this.#orders()) {
      if (isAtRest(order) && symbols.includes(canonicalSymbol(order.symbol))) this.#lookups.ask(order)
    }
    this.#startNextSteps()
  }

  async #keepStops(): Promise<void> {
    const { engine, timer, configuration } = this.#dependencies
    const rules = { now: timestampAt(timer.now()), configuration: configuration() }
    if (isProtectionDue(engine.state.trading, rules)) await this.#record({ kind: 'keep-protective-stops' })
  }

  async #retryExits(): Promise<void> {
    const { engine, timer, configuration } = this.#dependencies
    const { trading } = engine.state
    if (this.#isRetrying) return
    const rules = { now: timestampAt(timer.now()), configuration: configuration() }
    const isOverdue = overdueExits(trading, rules).length > 0
    const isStranded = openPositionsOf(trading).some((one) => hasStrandedExit(trading, one))
    this.#isRetrying = true
    if (isOverdue) await this.#record({ kind: 'end-overdue-exits' })
    if (isStranded) await this.#record({ kind: 'retry-exits' })
    this.#isRetrying = false
  }

  #orders(): readonly OpenOrder[] {
    const { engine, venue } = this.#dependencies
    return [...engine.state.trading.orders.open.values()].filter((order) => order.venue === venue)
  }

  #connection(): VenueConnection {
    const { engine, broker, timer, configuration } = this.#dependencies
    const { execution, universe } = configuration()
    return {
      broker,
      timer,
      timeoutMs: execution.send_timeout_seconds * 1000,
      spelling: (symbol) =>
        universe.symbols.find((name) => canonicalSymbol(name) === canonicalSymbol(symbol)) ?? symbol,
      // Leverage 1 if the intent is no longer known, so that no position is closer to liquidation than was decided.
      leverageOf: (order) => {
        const id = intentOf(order)
        return (id === null ? undefined : engine.state.trading.intents.get(id))?.intent.leverage ?? 1
      },
    }
  }
}

const bySymbol = (orders: readonly OpenOrder[]): ReadonlyMap<string, readonly OpenOrder[]> => {
  const groups = new Map<string, OpenOrder[]>()
  for (const order of orders) {
    const symbol = canonicalSymbol(order.symbol)
    const group = groups.get(symbol)
    if (group === undefined) groups.set(symbol, [order])
    else group.push(order)
  }
  return groups
}

const urgency = ({ kind, order }: OrderStep): number => (isExit(order) ? 2 : 0) + (kind === 'send' ? 1 : 0)

/** Limit of simultaneous calls to the venue. */
const LANES_MAX = 8

/** Runs one step at a time in each symbol, and at most LANES_MAX in total. */
export class Lanes {
  readonly #underWay = new Map<string, Promise<void>>()
  readonly #activity = new Map<string, number>()
  readonly #onFree: () => void

  constructor(onFree: () => void) {
    this.#onFree = onFree
  }

  isFree(symbol: string): boolean {
    return !this.#underWay.has(symbol) && this.#underWay.size < LANES_MAX
  }

  isIdle(symbol: string): boolean {
    return !this.#underWay.has(symbol)
  }

  /** Does nothing if no lane is free. `onFree` reports when to try again. */
  start(symbol: string, work: () => Promise<void>): void {
    if (!this.isFree(symbol)) return
    this.#count(symbol)
    const done = work().finally(() => {
      this.#underWay.delete(symbol)
      this.#count(symbol)
      this.#onFree()
    })
    this.#underWay.set(symbol, done)
  }

  activityIn(symbol: string): number {
    return this.#activity.get(symbol) ?? 0
  }

  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay.values())
  }

  #count(symbol: string): void {
    this.#activity.set(symbol, this.activityIn(symbol) + 1)
  }
}
