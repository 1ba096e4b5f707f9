import type { NodeId } from '../core/shared/brand.ts'
import { yieldToEventLoop } from '../ports/yield-to-event-loop.ts'
import type { Command } from '../core/decide.ts'
import { DEFAULT_CONFIGURATION } from '../core/config/validate.ts'
import type { Head, Stamped } from '../core/log/event.ts'
import { keysToFind } from '../core/signals/dedupe-keys.ts'
import type { State } from '../core/state.ts'
import { type EventLog, StoreLostError } from '../ports/event-log.ts'
import type { Signer } from '../ports/signer.ts'
import {
  CommandQueue,
  EngineClosedError,
  type EngineLimits,
  FencedError,
  KeyRetiredError,
  LIMITS,
  QueueFullError,
  isUrgent,
} from './command-queue.ts'
import { believedLog } from './believed-log.ts'
import {
  type Batch,
  CommitLine,
  type Stored,
  type Waiting,
  answerAll,
  batchSizeOf,
  tokenOf,
} from './commit-line.ts'
import type { EngineDependencies } from './engine-dependencies.ts'
import { EventBus } from './event-bus.ts'
import { type Folded, TrustedHeads } from './integrity/trusted-fold.ts'
import { type Memory, type Page, catchUp, recall } from './memory.ts'
import { PastStates } from './past-states.ts'
import {
  type ExecuteOptions,
  type Executor,
  type Outcome,
  type Plan,
  type Request,
  plan,
  remember,
  rememberStored,
} from './plan.ts'
import { sha256Hex } from './sha256.ts'
import { SnapshotKeeper } from './snapshot-keeper.ts'
import type { Configuration } from '../core/config/schema.ts'
import type { DecisionContext } from '../core/shared/decision-context.ts'
import { timestampAt } from '../core/shared/time.ts'
import { KILL_SWITCH } from '../core/shared/level.ts'

/**
 * The only writer of the log, in one loop. Queued commands are decided one after the other on the evolving state and
 * stored in one transaction. Each caller is answered only after its batch is durable. While a batch is being stored,
 * the next one is decided ahead of it. If storing fails, batches that were decided ahead are decided again.
 */
export class Engine implements Executor {
  /** The log for readers, which leaves out events without a valid signature. */
  readonly log: EventLog
  /** The log as it is stored. */
  readonly storedLog: EventLog
  readonly nodeId: NodeId
  readonly sign: Signer['sign']
  readonly eventBus = new EventBus()
  /** Earlier states of the fold. */
  readonly past: PastStates
  readonly #dependencies: EngineDependencies
  readonly #limits: EngineLimits
  readonly #line: CommitLine
  readonly #snapshots: SnapshotKeeper
  readonly #stopWatching: () => void
  /** The fold of stored events; `#ahead` also includes the batches in flight. */
  #durable: Memory
  readonly #heads: TrustedHeads
  #ahead: Memory
  readonly #queue = new CommandQueue<Waiting>()
  readonly #inFlight: Batch[] = []
  /** Callers whose commands must be decided again, in order, because an earlier batch was not stored. */
  readonly #undecided: Waiting[] = []
  /** Batches that were stored after all, but are not folded yet. */
  readonly #stored: Batch[] = []
  #mustReplan = false
  #hasNews = false
  /** Leases up to this token have ended. */
  #fencedToken = 0
  #working: Promise<void> | null = null
  #wake: () => void = () => undefined
  readonly #advanceWaiters: { readonly resolve: () => void; readonly reject: (error: unknown) => void }[] = []
  #closed = false
  #lost: StoreLostError | null = null
  readonly #stopWatchingLoss: () => void

  /** Loads the newest snapshot and folds the events after it. */
  static async open(dependencies: EngineDependencies): Promise<Engine> {
    const { log, trust = null, onUnsigned } = dependencies
    const recalled = await recall(log, trust)
    const heads = new TrustedHeads()
    heads.add(recalled.head)
    const onPage = ({ memory }: Page): void => heads.add(memory.head)
    const memory = await catchUp(log, recalled, { trust, onUnsigned, onPage })
    return new Engine(await withoutSnapshots(dependencies), { memory, heads }, recalled.head.seq)
  }

  private constructor(dependencies: EngineDependencies, { memory, heads }: Folded, snapshotSeq: number) {
    const { log, signer, snapshotEveryEvents, limits } = dependencies
    this.storedLog = log
    this.log = believedLog(log, this)
    this.past = new PastStates(log, dependencies.trust ?? null)
    this.nodeId = signer.nodeId
    this.sign = (text) => signer.sign(text)
    this.#dependencies = dependencies
    this.#limits = { ...LIMITS, ...limits }
    this.#durable = memory
    this.#heads = heads
    this.#ahead = memory
    this.#line = new CommitLine(log, signer)
    this.#snapshots = new SnapshotKeeper(log, signer, snapshotEveryEvents, snapshotSeq)
    this.#stopWatching = log.watch(() => this.#look())
    this.#stopWatchingLoss = log.watchLoss?.((error) => this.#lose(error)) ?? (() => undefined)
  }

  /**
   * The fold of all durable events that this process has read. After the loss of the log it is locked, which the lost
   * log cannot record.
   */
  get state(): State {
    return this.#lost === null ? this.#durable.state : lockedAfterLoss(this.#durable.state)
  }

  /** Reason why nothing is stored any more; null while the log is available. */
  get lost(): StoreLostError | null {
    return this.#lost
  }

  /** Commands that wait to be decided. */
  get queueLength(): number {
    return this.#queue.length
  }

  get #isRetired(): boolean {
    return this.state.operations.nodes.retired.includes(this.nodeId)
  }

  get head(): Head {
    return this.#durable.head
  }

  /** The fold, including events that other processes have stored by now. A lost log is not read again. */
  async fresh(): Promise<State> {
    if (this.#lost !== null) return this.state
    const { seq } = await this.storedLog.head()
    while (this.#durable.head.seq < seq && !this.#closed) {
      const advanced = new Promise<void>((resolve, reject) => this.#advanceWaiters.push({ resolve, reject }))
      this.#look()
      await advanced
    }
    return this.state
  }

  /** The verified log, including events that other processes have stored by now. Checks and proofs are based on it. */
  async folded(): Promise<Folded> {
    await this.fresh()
    return { memory: this.#durable, heads: this.#heads }
  }

  /** Decides, stores and folds a command. Resolves once everything is durable. A refusal resolves, an error rejects. */
  execute(
    command: Command,
    { traceId = null, alongside = null, leaderToken = null, expects }: ExecuteOptions = {},
  ): Promise<Outcome> {
    if (this.#closed) return Promise.reject(new EngineClosedError())
    if (this.#lost !== null) return Promise.reject(this.#lost)
    // Signatures of a retired key are not accepted.
    if (this.#isRetired) return Promise.reject(new KeyRetiredError(this.nodeId))
    if (this.#queue.lengthBefore(command) >= this.#limits.queueMax)
      return Promise.reject(new QueueFullError())
    return new Promise((resolve, reject) => {
      this.#queue.push({ command, traceId, alongside, leaderToken, expects, resolve, reject })
      this.#work()
      this.#wake()
    })
  }

  /** Finishes waiting commands, saves a snapshot for the next start, and stops. The caller closes the log. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#stopWatching()
    this.#stopWatchingLoss()
    while (this.#working !== null) await this.#working
    const keepsSnapshots = this.#dependencies.snapshotEveryEvents < Infinity
    if (keepsSnapshots && !this.#isRetired && this.#lost === null)
      await this.#snapshots.keepNow(this.#durable)
  }

  /** Other processes have stored events. A running loop may have read the log before that. */
  #look(): void {
    if (this.#lost !== null) return
    this.#hasNews = true
    this.#work()
  }

  /** Starts the loop unless it is running. It ends when no command waits. */
  #work(): void {
    this.#working ??= this.#loop()
      .catch((error: unknown) => this.#giveUp(error))
      .finally(() => {
        this.#working = null
        // A command that arrived while the loop was ending must not wait for the next command.
        if (this.#queue.length > 0 || this.#hasNews) this.#work()
      })
  }

  async #loop(): Promise<void> {
    await this.#foldForeign()
    for (;;) {
      const [oldest] = this.#inFlight
      if (this.#mustReplan) await this.#startOver()
      else if (this.#queue.length > 0 && this.#inFlight.length < this.#limits.inFlightMax)
        await this.#decideNext()
      else if (oldest === undefined && !this.#hasNews) return
      else if (oldest === undefined) await this.#foldForeign()
      else if (this.#queue.length > 0) await oldest.settled
      else await Promise.race([oldest.settled, this.#nextCommand()])
    }
  }

  async #decideNext(): Promise<void> {
    // Commands of the same turn of the event loop share a batch, since every batch has a fixed cost. Other work gets a
    // turn between two batches.
    await yieldToEventLoop()
    if (this.#inFlight.length === 0) await this.#foldForeign()
    const size = batchSizeOf(this.#queue.length, this.#inFlight, this.#limits)
    const waiting = this.#withoutFenced(this.#queue.take(size, this.#limits.urgentBatchMax))
    try {
      const before = this.#ahead
      const planned = await this.#planKnowingKeys(waiting, before)
      this.#queue.putBack(waiting.splice(planned.answers.length))
      this.#ahead = planned.after
      const stored = this.#line.store(planned, before.head, tokenOf(waiting))
      const batch: Batch = { waiting, planned, settled: stored.then((result) => this.#settle(batch, result)) }
      this.#inFlight.push(batch)
    } catch (error) {
      for (const { reject } of waiting) reject(error)
    }
  }

  /** Rejects commands of a lease that has ended. Those of clients continue. */
  #withoutFenced(waiting: readonly Waiting[]): Waiting[] {
    return waiting.filter(({ leaderToken, reject }) => {
      const isFenced = leaderToken !== null && leaderToken <= this.#fencedToken
      if (isFenced) reject(new FencedError(leaderToken))
      return !isFenced
    })
  }

  /** Plans, and plans again if a dedupe key turns out to be stored already. */
  async #planKnowingKeys(requests: readonly Request[], before: Memory): Promise<Plan> {
    const known = new Map<string, Stamped>()
    for (const { planned } of this.#inFlight) for (const event of planned.events) remember(known, event)
    const { clock, signer, isSigned = () => false, version = 'unknown' } = this.#dependencies
    const settings = this.#dependencies.configuration?.() ?? DEFAULT_CONFIGURATION
    let turnBeganMs = performance.now()
    const context = {
      ...timesOf(clock.now(), before.head, settings),
      seed: clock.newId(),
      configuration: settings,
      version,
      sha256Hex,
      nodeId: this.nodeId,
      sign: (text: string) => Buffer.from(signer.sign(text), 'hex').toString('base64'),
      isSigned,
      elapsedMs: () => Math.round(performance.now() - turnBeganMs),
    }
    const next = async ({ command }: Request): Promise<boolean> => {
      await yieldToEventLoop()
      turnBeganMs = performance.now()
      // An urgent command that arrived meanwhile waits for one turn, not for the whole batch.
      return isUrgent(command) || !this.#queue.hasUrgent
    }
    const turns = { requestsMax: this.#limits.turnMax, next }
    const planned = await plan(requests, before, known, context, turns)
    const keys = planned.events.flatMap(({ dedupeKey }) => keysToFind(dedupeKey))
    if (keys.length === 0) return planned
    const stored = await this.storedLog.findByDedupeKeys(keys)
    if (stored.size === 0) return planned
    for (const record of stored.values()) rememberStored(known, record, before.state)
    // Keys of requests that were postponed have not been looked up.
    return plan(requests.slice(0, planned.answers.length), before, known, context, turns)
  }

  /** Called once per batch, in order. */
  #settle(batch: Batch, result: Stored): void {
    this.#inFlight.shift()
    if (result.status === 'fenced')
      this.#fencedToken = Math.max(this.#fencedToken, tokenOf(batch.waiting) ?? 0)
    if (result.status === 'failed') {
      this.#mustReplan = true
      if (result.error instanceof StoreLostError) this.#lose(result.error)
      for (const { reject } of batch.waiting) reject(result.error)
    } else if (this.#mustReplan && result.status === 'appended' && result.records.length > 0) {
      // This batch follows one whose append reported an error. This one is stored, so the earlier one is, too. `#startOver`
      // folds both from the log.
      this.#stored.push(batch)
    } else if (this.#mustReplan || result.status !== 'appended') {
      this.#mustReplan = true
      this.#undecided.push(...batch.waiting)
    } else {
      this.#advance(batch.planned.after)
      this.eventBus.publish({ records: result.records, events: batch.planned.events })
      answerAll(batch)
    }
  }

  /** Decides again the batches that were decided on top of one that was not stored. */
  async #startOver(): Promise<void> {
    await Promise.all(this.#inFlight.map(({ settled }) => settled))
    this.#queue.putBack(this.#undecided.splice(0))
    this.#mustReplan = false
    this.#ahead = this.#durable
    await this.#foldForeign()
    for (const batch of this.#stored.splice(0)) answerAll(batch)
  }

  /** Folds events of other processes. Called only while no batch of this process is in flight. */
  async #foldForeign(): Promise<void> {
    this.#hasNews = false
    const folded = this.#durable.head
    const { seq, hash } = await this.storedLog.head()
    if (seq === folded.seq && hash === folded.hash) return
    // No append can follow a head that the log no longer has: retrying it would never end.
    if (seq <= folded.seq) throw this.#lose(endLost(folded.seq, seq))
    const { trust = null, onUnsigned } = this.#dependencies
    const onPage = (page: Page): void => {
      this.#advance(page.memory)
      this.eventBus.publish(page)
    }
    this.#ahead = await catchUp(this.storedLog, this.#durable, { trust, onUnsigned, onPage })
  }

  #advance(memory: Memory): void {
    this.#durable = memory
    this.#heads.add(memory.head)
    for (const { resolve } of this.#advanceWaiters.splice(0)) resolve()
    this.#snapshots
      .keepIfDue(memory)
      .catch((error: unknown) => this.#dependencies.onError('could not save a snapshot', error))
  }

  /** Rejects the waiting commands, which could not be stored. Returns the error of the first loss. */
  #lose(error: StoreLostError): StoreLostError {
    if (this.#lost !== null) return this.#lost
    this.#lost = error
    this.#dependencies.onLost?.(error)
    for (const { reject } of this.#queue.takeAll()) reject(error)
    return error
  }

  #nextCommand(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  /** Rejects all waiting callers, because the log cannot be read. */
  #giveUp(error: unknown): void {
    const waiting = [
      ...this.#undecided.splice(0),
      ...this.#queue.takeAll(),
      ...this.#advanceWaiters.splice(0),
    ]
    if (waiting.length === 0) this.#dependencies.onError('could not read the log', error)
    for (const { reject } of waiting) reject(error)
  }
}

const endLost = (foldedSeq: number, seq: number): StoreLostError =>
  new StoreLostError(
    seq < foldedSeq
      ? `the log ends at event ${seq}, but event ${foldedSeq} was stored: nothing more is stored`
      : `event ${seq} of the log is no longer the one that was stored: nothing more is stored`,
  )

/**
 * In an exchanged log only the node's own key counts, until an operator accepts the log. A snapshot of that fold would
 * outlive the acceptance, so none is kept.
 */
const withoutSnapshots = async (dependencies: EngineDependencies): Promise<EngineDependencies> => {
  const { log, trust } = dependencies
  if (trust === undefined || trust.firstHash === null) return dependencies
  const [first] = await log.read({ order: 'asc', limit: 1 })
  const isExchanged = first !== undefined && first.hash !== trust.firstHash
  return isExchanged ? { ...dependencies, snapshotEveryEvents: Infinity } : dependencies
}

/**
 * Times at which a decision is made and recorded. If the clock of another process is slightly ahead, both stay at its
 * time until our clock has caught up. A time from the future is not followed: `recorded_at` never decreases, but
 * decisions are made at the current time.
 */
const timesOf = (
  clockMs: number,
  { recordedAt }: Pick<Head, 'recordedAt'>,
  { kill_switch }: Pick<Configuration, 'kill_switch'>,
): Required<Pick<DecisionContext, 'now' | 'recordedAt'>> => {
  const laterMs = Math.max(clockMs, Date.parse(recordedAt) || 0)
  const isFromFuture = laterMs - clockMs > kill_switch.l1_clock_jump_seconds * 1000
  return { now: timestampAt(isFromFuture ? clockMs : laterMs), recordedAt: timestampAt(laterMs) }
}

/**
 * State of an engine whose log is lost. Returns the same object for the same state, because readers compare objects.
 */
export const lockedAfterLoss = (state: State): State => {
  const known = lockedStates.get(state)
  if (known !== undefined) return known
  const { trading } = state
  const killSwitch = { ...trading.killSwitch, level: KILL_SWITCH.lockdown, reason: LOG_LOST }
  const locked = { ...state, trading: { ...trading, killSwitch } }
  lockedStates.set(state, locked)
  return locked
}

const lockedStates = new WeakMap<State, State>()

const LOG_LOST = 'log_lost'
