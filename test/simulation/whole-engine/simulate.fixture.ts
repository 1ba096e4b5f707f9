import type { Configuration } from '../../../src/core/config/schema.ts'
import { DEFAULT_CONFIGURATION } from '../../../src/core/config/validate.ts'
import { nodeId } from '../../../src/core/shared/brand.ts'
import { canonicalSymbol } from '../../../src/core/shared/symbol.ts'
import type { Usd } from '../../../src/core/shared/money.ts'
import { isLive, type Intent } from '../../../src/core/trading/orders/intents.ts'
import { openPositionsOf, positionsOf } from '../../../src/core/trading/positions/book.ts'
import { isAtRest } from '../../../src/core/trading/orders/orders.ts'
import { hasStrandedExit } from '../../../src/core/trading/positions/exits.ts'
import { quantityLeft } from '../../../src/core/trading/positions/positions.ts'
import type { BrokerOrder } from '../../../src/ports/broker.ts'
import { MemoryLog } from '../../../src/adapters/storage/memory/memory-log.ts'
import { auditDecisions } from '../../../src/engine/audit/audit-decisions.ts'
import { Auditor } from './auditor.fixture.ts'
import { Clients } from './clients.fixture.ts'
import { DEFAULT_FAULTS, type Fault } from './faults.fixture.ts'
import { LogServer } from './log-server.fixture.ts'
import { Market, MINUTE_MS } from './market.fixture.ts'
import { cheapSignatures, SimulatedProcess, type SharedWorld } from './process.fixture.ts'
import { START_USD, Venue } from './venue.fixture.ts'
import { World, type Owner, type TraceLine } from './world.fixture.ts'

export interface SimulationOptions {
  readonly seed: number
  readonly faults?: readonly Fault[]
  /** Number of periods with faults. Each is followed by a calm period in which the books are compared. */
  readonly rounds?: number
  readonly trace?: TraceLine
  /**
   * Adds real time to each step. A result that depends on real time, such as the answer of a real disk, would then
   * change the run.
   */
  readonly isSlow?: boolean
  /** Every decision is made again at the end, which takes about a third of the time of the run. */
  readonly isAudited?: boolean
}

export interface SimulationResult {
  /** Digest of every step and every stored event. It is the same for the same seed. */
  readonly digest: string
  readonly counts: ReadonlyMap<string, number>
  readonly steps: number
  readonly events: number
  readonly simulatedMs: number
}

/** The name determines the source of funding: this venue reports it. */
const VENUE = 'binanceusdm-sandbox'
const FORBIDDEN = 'DOGE'
const SYMBOLS = ['BTC', 'ETH', 'SOL', FORBIDDEN]
const BEGIN_MS = Date.parse('2026-02-20T07:50:00.000Z')
const QUIET_MS = 75_000
/** Interval at which operators check alerts. */
const RESUME_PAUSE_MS = 10_000
/** Largest difference that counts as rounding, in 1e-6 USD. */
const CENT_USD = 10_000n
/** Time within which the schedule ends an expired intent. It runs once a second. */
const EXPIRED_WITHIN_MS = 5000
const QUIET_MS_MAX = 20 * MINUTE_MS
const NODES = [1, 2] as const

/** Runs one seed to its end. Rejects with the first broken invariant. */
export const simulate = async (options: SimulationOptions): Promise<SimulationResult> => {
  const releaseStopwatch = stopStopwatch()
  const simulation = new Simulation(options)
  try {
    return await simulation.run(options.rounds ?? 3)
  } finally {
    simulation.end()
    releaseStopwatch()
  }
}

class Simulation {
  readonly #world: World
  readonly #server: LogServer
  readonly #market: Market
  readonly #venue: Venue
  readonly #auditor: Auditor
  readonly #clients: Clients
  readonly #around: SharedWorld
  readonly #slots = new Map<number, SimulatedProcess>()
  readonly #isAudited: boolean
  #lives = 0
  #resumedMs = 0

  constructor({
    seed,
    faults = DEFAULT_FAULTS,
    trace,
    isSlow = false,
    isAudited = false,
  }: SimulationOptions) {
    this.#isAudited = isAudited
    const world = new World({ seed, startMs: BEGIN_MS, faults, trace: trace ?? null, isSlow })
    this.#world = world
    this.#server = new LogServer(world)
    this.#market = new Market(world, SYMBOLS)
    this.#venue = new Venue(world, this.#market)
    this.#auditor = new Auditor(world, FORBIDDEN)
    this.#clients = new Clients(world, this.#auditor, SYMBOLS, () => [...this.#slots.values()])
    this.#around = {
      world,
      server: this.#server,
      market: this.#market,
      venue: this.#venue,
      ban: { untilMs: 0 },
      configuration: CONFIGURATION,
      onSend: (process, order) => this.#judgeSent(process, order),
      onOpened: ({ state }) => this.#auditor.compareState(state, 'a process that started'),
    }
    world.beforeStepOf = (owner, label) => this.#survives(owner, label)
    world.afterStep = () => this.#auditor.read(this.#server.store.records)
  }

  async run(rounds: number): Promise<SimulationResult> {
    const world = this.#world
    await this.#setUp()
    this.#clients.begin()
    this.#supervise()
    this.#addFaults()
    this.#triggerStops()
    for (let round = 0; round < rounds; round += 1) {
      world.isCalm = false
      await world.runUntil(world.nowMs + (2 + world.random('rounds').below(4)) * MINUTE_MS)
      await this.#calmDown()
      this.#compareBooks()
    }
    await this.#sellEverything()
    this.#compareBooks()
    this.#judgeEnd()
    if (this.#isAudited) await this.#audit()
    world.throwIfBroken()
    return {
      digest: world.digest(),
      counts: world.counts,
      steps: world.steps,
      events: this.#auditor.head.seq,
      simulatedMs: world.nowMs - BEGIN_MS,
    }
  }

  end(): void {
    for (const process of this.#slots.values()) process.end()
  }

  /** Starts the first process, its authors and the confirmation of an operator, then the second process. */
  async #setUp(): Promise<void> {
    const world = this.#world
    const first = this.#start(1)
    const ready = (isReady: () => boolean): Promise<boolean> =>
      world.runUntil(world.nowMs + 5 * MINUTE_MS, isReady)
    await ready(() => first.engine !== null)
    for (const number of [0, 1, 2])
      this.#clients.send({
        kind: 'register-contributor',
        registration: {
          nodeId: nodeId(`curator-${number}`),
          name: `Curator ${number}`,
          role: 'curator',
          metadata: {},
        },
        surface: 'cli',
      })
    const confirmation = { venue: VENUE, operator: 'op', configHash: 'hash', equity: START_USD as Usd }
    this.#clients.send({ kind: 'confirm-live', confirmation })
    await ready(() => this.#auditor.state.trading.venue.checked?.ok === true)
    this.#start(2)
    await ready(() => this.#slots.get(2)?.engine !== null)
  }

  #start(node: number): SimulatedProcess {
    this.#lives += 1
    const process = new SimulatedProcess(this.#around, node, this.#lives)
    this.#slots.set(node, process)
    this.#world.note(`node-${node} starts`)
    process.begin()
    return process
  }

  #triggerStops(): void {
    this.#world.schedule(1000, 'stops at the venue', null, () => {
      this.#venue.triggerStops()
      this.#triggerStops()
    })
  }

  /** Restarts ended processes sooner or later. */
  #supervise(): void {
    const world = this.#world
    world.schedule(500, 'supervisor', null, () => {
      for (const node of NODES) {
        const isOver = this.#slots.get(node)?.isOver !== false
        if (isOver && (world.isCalm || world.random('supervisor').happens(0.15))) this.#start(node)
      }
      this.#supervise()
    })
  }

  /** False if the process ends before this step. */
  #survives(owner: Owner, label: string): boolean {
    const share = label === 'wait' ? 0.0005 : 0.006
    if (!this.#world.goesWrong('crash', share)) return true
    if (this.#server.leader === owner) this.#world.count('leaders crashed')
    this.#processOf(owner)?.end()
    return false
  }

  #processOf(owner: Owner): SimulatedProcess | undefined {
    return [...this.#slots.values()].find((process) => process === owner)
  }

  /** Adds faults at random times, independent of calls. */
  #addFaults(): void {
    const world = this.#world
    const random = world.random('trouble')
    world.schedule(1000 + random.below(4000), 'trouble', null, () => {
      const running = [...this.#slots.values()].filter(({ isOver }) => !isOver)
      const one = running[random.below(Math.max(1, running.length))]
      const symbol = SYMBOLS[random.below(SYMBOLS.length)] ?? ''
      if (world.goesWrong('failover', 0.015)) this.#server.failOver()
      if (world.goesWrong('disk_full', 0.015)) this.#server.fillDisk()
      if (one !== undefined && world.goesWrong('partition', 0.02)) this.#server.cutOff(one)
      if (one !== undefined && world.goesWrong('restart', 0.02)) one.stop()
      if (one !== undefined && world.goesWrong('freeze', 0.02))
        one.frozenUntilMs = world.nowMs + random.below(20_000)
      if (world.goesWrong('power_cut', 0.01)) {
        this.#server.cutPower()
        for (const process of running) process.end()
      }
      if (world.goesWrong('lease_lost', 0.02)) this.#server.loseHeartbeats(3000 + random.below(12_000))
      if (world.goesWrong('clock_steps', 0.03)) world.clockOffsetMs = random.below(4001) - 2000
      if (world.goesWrong('clock_jumps', 0.01)) world.clockOffsetMs = random.below(7_200_001) - 3_600_000
      if (world.goesWrong('liquidations', 0.04)) this.#venue.liquidate(symbol)
      const held = this.#venue.heldSymbol()
      if (held !== undefined && world.goesWrong('silent_closes', 0.05))
        this.#venue.liquidate(held, { worsePercent: BigInt(random.below(40)), isListed: false })
      if (world.goesWrong('funding', 0.05))
        this.#venue.chargeFunding(symbol, BigInt(random.below(200_001) - 100_000))
      this.#addFaults()
    })
  }

  /** Ends all faults, after which all pending work must finish. */
  async #calmDown(): Promise<void> {
    const world = this.#world
    world.isCalm = true
    world.note('calm')
    this.#server.heal()
    this.#around.ban.untilMs = Math.min(this.#around.ban.untilMs, world.nowMs + 200_000)
    for (const process of this.#slots.values()) process.frozenUntilMs = 0
    await world.runUntil(world.nowMs + 5000)
    this.#clients.setLevel(0)
    this.#clients.denyAll()
    const isQuiet = await world.runUntil(world.nowMs + QUIET_MS_MAX, () => this.#isQuiet())
    if (!isQuiet) world.expect(false, `something is under way for ever: ${this.#underWay().join(', ')}`)
    world.throwIfBroken()
    world.count('quiet points')
  }

  #isQuiet(): boolean {
    this.#resumeIfMissing()
    // During a ban the venue reports nothing. Its charges are read afterwards.
    const changedMs = Math.max(this.#venue.changedMs, this.#auditor.filledMs, this.#around.ban.untilMs)
    return this.#world.nowMs - changedMs > QUIET_MS && this.#underWay().length === 0
  }

  #underWay(): readonly string[] {
    const { trading } = this.#auditor.state
    return [
      ...[...trading.orders.open.values()]
        .filter((order) => !isAtRest(order))
        .map(({ id, status }) => `order ${id} is ${status}`),
      ...openPositionsOf(trading)
        .filter((position) => hasStrandedExit(trading, position))
        .map(({ id }) => `the exit of ${id} did not succeed`),
      ...(this.#isMissing() ? ['a position is missing at the venue'] : []),
      ...(this.#unreported() === 0n ? [] : [`${this.#unreported()} are not reported as unexplained`]),
      ...(trading.venue.checked?.ok === true ? [] : ['the venue is not checked']),
      ...(this.#server.leader === null ? ['nobody leads'] : []),
    ]
  }

  /** An operator resumes after checking a position that the venue no longer holds. */
  #resumeIfMissing(): void {
    const { nowMs } = this.#world
    if (!this.#isMissing() || nowMs - this.#resumedMs < RESUME_PAUSE_MS) return
    this.#resumedMs = nowMs
    this.#clients.resume()
  }

  /** True if the venue closed a position without listing it, and the log still holds it. */
  #isMissing(): boolean {
    const { books, silentCloses } = this.#venue
    return silentCloses > 0 && SYMBOLS.some((symbol) => this.#netOf(symbol) !== books.netOf(symbol))
  }

  /** Difference between our equity and the venue's beyond the reported part, from one cent on. */
  #unreported(): bigint {
    const { venue } = this.#auditor.state.trading
    if (this.#venue.silentCloses === 0) return 0n
    const rest = this.#equityThere() - this.#equityHere() - venue.unexplained
    return rest > -CENT_USD && rest < CENT_USD ? 0n : rest
  }

  #netOf(symbol: string): bigint {
    return positionsOf(this.#auditor.state.trading, canonicalSymbol(symbol)).reduce(
      (sum, position) =>
        sum + (position.terms.direction === 'long' ? 1n : -1n) * (quantityLeft(position) as bigint),
      0n,
    )
  }

  #equityHere(): bigint {
    const { ledger, book } = this.#auditor.state.trading
    return (ledger.cash as bigint) + book.unrealized
  }

  #equityThere(): bigint {
    const { trading } = this.#auditor.state
    return this.#venue.books.equity(
      (symbol) => positionsOf(trading, canonicalSymbol(symbol))[0]?.mark.price ?? 0n,
    )
  }

  /** Everything is reported: the venue's books and ours are equal to the last unit. */
  #compareBooks(): void {
    const world = this.#world
    const { trading } = this.#auditor.state
    const { ledger, book } = trading
    const { books } = this.#venue
    const same = (what: string, ours: bigint, theirs: bigint): void =>
      world.expect(ours === theirs, `the books differ: ${what} is ${ours} here and ${theirs} there`)
    for (const symbol of SYMBOLS) same(symbol, this.#netOf(symbol), books.netOf(symbol))
    if (this.#venue.silentCloses === 0) {
      same('fees', ledger.fees, books.fees)
      same('funding', ledger.funding, books.funding)
      same('realized profit', ledger.realized, books.realized)
      same('equity', this.#equityHere(), this.#equityThere())
      same('what is unexplained', trading.venue.unexplained, 0n)
    } else {
      // The venue has not reported the closing price. Only that amount is open, and it is reported.
      world.expect(this.#unreported() === 0n, `${this.#unreported()} of equity are neither here nor reported`)
      world.count('books compared after a silent close')
    }
    world.count('books compared')
    if (book.count > 0) world.count('books compared with open positions')
    for (const { engine, isOver, name } of this.#slots.values())
      if (!isOver && engine !== null) this.#auditor.compareState(engine.state, name)
    world.throwIfBroken()
  }

  async #sellEverything(): Promise<void> {
    const world = this.#world
    for (let minute = 0; minute < 20; minute += 1) {
      // Exits only: small entries need no approval, and would continue.
      this.#clients.setLevel(2)
      this.#clients.resume()
      this.#clients.denyAll()
      this.#clients.closeAll()
      const isFlat = (): boolean => this.#isQuiet() && this.#auditor.state.trading.book.count === 0
      if (await world.runUntil(world.nowMs + 2 * MINUTE_MS, isFlat)) return
    }
    world.expect(false, `not everything can be sold: ${this.#underWay().join(', ')}`)
  }

  #judgeSent(process: SimulatedProcess, order: BrokerOrder): void {
    const world = this.#world
    const stored = this.#auditor.submitted.get(order.clientOrderId)
    if (stored === undefined) {
      world.expect(false, `order ${order.clientOrderId} was sent before it was stored`)
      return
    }
    const level = process.engine?.state.trading.killSwitch.level ?? 0
    world.expect(order.reduceOnly === stored.isExit, 'an exit was sent that may open a position')
    if (!stored.isExit) world.expect(level < 2, `5: an entry was sent at level ${level}`)
    else world.expect(level < 3 || stored.reason === 'manual', '5: an exit was sent at level 3')
  }

  /** Every decision of the run is made again: nobody has changed anything, so none differs. */
  async #audit(): Promise<void> {
    const world = this.#world
    const report = await auditDecisions(new MemoryLog(this.#server.store), {
      trust: { signatures: cheapSignatures, own: null, firstHash: null },
      configuration: CONFIGURATION,
      version: 'simulated',
      from: null,
      to: null,
      onProgress: () => undefined,
    })
    for (const { seq, type, fault } of report.findings)
      world.expect(false, `the audit reports event ${seq}, ${type}, as ${fault}`)
    for (const reason of Object.keys(report.not_rerun)) world.expect(false, `the audit leaves out: ${reason}`)
    world.count('runs audited')
  }

  #judgeEnd(): void {
    const world = this.#world
    const { trading } = this.#auditor.state
    const mayWait = ({ status, intent }: Intent): boolean =>
      status === 'awaiting_approval' && Date.parse(intent.valid_until) > world.nowMs - EXPIRED_WITHIN_MS
    const left = [...trading.intents.values()].filter((known) => isLive(known.status) && !mayWait(known))
    world.expect(left.length === 0, `18: ${left.length} intents have not ended`)
    const counted = (type: string): number => world.counts.get(`event ${type}`) ?? 0
    const unlisted = ['execution.venue_differs.v1', 'execution.loss_unexplained.v1']
    const never = ['execution.position_adopted.v1', 'execution.capital_moved.v1']
    for (const type of this.#venue.silentCloses === 0 ? [...never, ...unlisted] : never)
      world.expect(counted(type) === 0, `${type} without a cause`)
    for (const { request } of [...this.#venue.orders, ...this.#venue.stops])
      world.expect(this.#auditor.submitted.has(request.clientOrderId), 'an order without a stored cause')
  }
}

/** Decisions record their duration. Here it is always zero. */
const stopStopwatch = (): (() => void) => {
  Object.defineProperty(performance, 'now', { value: () => 0, configurable: true, writable: true })
  return () => void Reflect.deleteProperty(performance, 'now')
}

const CONFIGURATION: Configuration = {
  ...DEFAULT_CONFIGURATION,
  universe: { ...DEFAULT_CONFIGURATION.universe, symbols: SYMBOLS },
  brain: { ...DEFAULT_CONFIGURATION.brain, min_domains: 1, cycle_interval_seconds: 60 },
  market: { ...DEFAULT_CONFIGURATION.market, feed: 'ccxt', exchange: 'binanceusdm' },
  risk: {
    ...DEFAULT_CONFIGURATION.risk,
    daily_loss_limit_pct: 0,
    kelly: { ...DEFAULT_CONFIGURATION.risk.kelly, prior: 10_000 },
  },
  execution: {
    ...DEFAULT_CONFIGURATION.execution,
    mode: 'live',
    venue: VENUE,
    dcg_symbols: [FORBIDDEN],
    confirmation_threshold_usd: 300,
    // Near enough to be hit within minutes.
    stop_loss_pct: 0.004,
    take_profit_pct: 0.008,
  },
}
