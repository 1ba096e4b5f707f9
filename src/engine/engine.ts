import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Command } from '../core/decide.ts'
import type { Configuration } from '../core/config/schema.ts'
import { DEFAULT_CONFIGURATION } from '../core/config/validate.ts'
import { stampedFrom, type Head, type Stamped } from '../core/log/event.ts'
import type { State } from '../core/state.ts'
import type { Clock } from '../ports/clock.ts'
import type { EventLog } from '../ports/event-log.ts'
import type { Signer } from '../ports/signer.ts'
import { CommandQueue, isUrgent } from './command-queue.ts'
import { CommitLine, type Stored } from './commit-line.ts'
import { EngineClosedError, QueueFullError } from './errors.ts'
import type { ExecuteOptions, Executor } from './executor.ts'
import { Feed } from './event-bus.ts'
import { catchUp, recall, type Memory } from './memory.ts'
import { plan, type Answer, type Outcome, type Plan, type Request } from './plan.ts'
import { sha256Hex } from './sha256.ts'
import { SnapshotKeeper } from './snapshot-keeper.ts'

export interface EngineDependencies {
  readonly log: EventLog
  readonly signer: Signer
  readonly clock: Clock
  readonly snapshotEveryEvents: number
  /** The settings that decisions are made with; without it the defaults. */
  readonly configuration?: () => Configuration
  /** The release that decides. */
  readonly version?: string
  readonly limits?: Partial<EngineLimits>
  /** Told of trouble that no caller waits for. */
  readonly onError: (what: string, error: unknown) => void
}

export interface EngineLimits {
  /** Commands that may wait in a lane; one more is refused at once. */
  readonly queueMax: number
  /** Commands decided together and stored in one transaction. */
  readonly batchMax: number
  /** Fewer are not split over several batches. */
  readonly batchMin: number
  /** Commands decided in one turn of the loop: what else waits for it, prices and stops, waits no longer than that. */
  readonly turnMax: number
  /** Beside urgent commands only as many others as make the batch no larger than this. */
  readonly urgentBatchMax: number
  /** Batches on their way to the log at the same time. */
  readonly inFlightMax: number
}

const LIMITS: EngineLimits = {
  queueMax: 10_000,
  batchMax: 1000,
  batchMin: 16,
  turnMax: 24,
  urgentBatchMax: 128,
  inFlightMax: 4,
}

/**
 * The one loop, the only writer. Queued commands are decided one after the other on the evolving state and stored
 * in one transaction; each caller is answered only after its batch is durable. While a batch is being stored the
 * next one is decided ahead of it; if storing fails, what was decided ahead is decided again.
 */
export class Engine implements Executor {
  readonly log: EventLog
  readonly nodeId: string
  readonly feed = new Feed()
  readonly #parts: EngineDependencies
  readonly #limits: EngineLimits
  readonly #line: CommitLine
  readonly #snapshots: SnapshotKeeper
  readonly #stopWatching: () => void
  /** Folded from what is stored; and folded further, with what is on its way. */
  #durable: Memory
  #ahead: Memory
  readonly #queue = new CommandQueue<Waiting>()
  readonly #inFlight: Batch[] = []
  /** Waits to be decided again, in order, because the batch before it was not stored. */
  readonly #undecided: Waiting[] = []
  /** Are stored after all, but not folded yet. */
  readonly #stored: Batch[] = []
  #misled = false
  #working: Promise<void> | null = null
  #wake: () => void = () => undefined
  readonly #advanceWaiters: { readonly resolve: () => void; readonly reject: (error: unknown) => void }[] = []
  #closed = false

  /** Recalls the newest snapshot and folds what came after it. */
  static async open(parts: EngineDependencies): Promise<Engine> {
    const recalled = await recall(parts.log)
    return new Engine(parts, await catchUp(parts.log, recalled), recalled.head.seq)
  }

  private constructor(parts: EngineDependencies, memory: Memory, snapshotSeq: number) {
    this.log = parts.log
    this.nodeId = parts.signer.nodeId
    this.#parts = parts
    this.#limits = { ...LIMITS, ...parts.limits }
    this.#durable = memory
    this.#ahead = memory
    this.#line = new CommitLine(parts.log, parts.signer)
    this.#snapshots = new SnapshotKeeper(parts.log, parts.snapshotEveryEvents, snapshotSeq)
    this.#stopWatching = parts.log.watch(() => this.#work())
  }

  /** The fold of everything durable that this process has seen. */
  get state(): State {
    return this.#durable.state
  }

  /** Commands that wait to be decided. */
  get queueLength(): number {
    return this.#queue.length
  }

  get head(): Head {
    return this.#durable.head
  }

  /** The fold after looking for events of other processes. */
  async fresh(): Promise<State> {
    const { seq } = await this.log.head()
    while (this.#durable.head.seq < seq && !this.#closed) {
      const advanced = new Promise<void>((resolve, reject) => this.#advanceWaiters.push({ resolve, reject }))
      this.#work()
      await advanced
    }
    return this.state
  }

  /** Decides, stores and folds. Resolves after everything is durable; refusals resolve, trouble rejects. */
  execute(command: Command, { traceId = null, alongside = null }: ExecuteOptions = {}): Promise<Outcome> {
    if (this.#closed) return Promise.reject(new EngineClosedError())
    if (this.#queue.lengthBefore(command) >= this.#limits.queueMax)
      return Promise.reject(new QueueFullError())
    return new Promise((resolve, reject) => {
      this.#queue.push({ command, traceId, alongside, resolve, reject })
      this.#work()
      this.#wake()
    })
  }

  /** Finishes what waits, leaves a snapshot for the next start, and stops. The log is closed by its owner. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#stopWatching()
    while (this.#working !== null) await this.#working
    await this.#snapshots.keepNow(this.#durable)
  }

  /** Starts the loop unless it runs; it ends by itself when nothing waits. */
  #work(): void {
    this.#working ??= this.#loop()
      .catch((error: unknown) => this.#giveUp(error))
      .finally(() => {
        this.#working = null
        // A command that came in while the loop was ending must not wait for the next one.
        if (this.#queue.length > 0) this.#work()
      })
  }

  async #loop(): Promise<void> {
    await this.#foldForeign()
    for (;;) {
      const [oldest] = this.#inFlight
      if (this.#misled) await this.#startOver()
      else if (this.#queue.length > 0 && this.#inFlight.length < this.#limits.inFlightMax)
        await this.#decideNext()
      else if (oldest === undefined) return
      else if (this.#queue.length > 0) await oldest.settled
      else await Promise.race([oldest.settled, this.#nextCommand()])
    }
  }

  async #decideNext(): Promise<void> {
    // All that comes in this turn of the loop is decided together: a batch has its price, whatever its size. Also
    // where much waits the loop turns between two batches, and does other work.
    await nextTurn()
    if (this.#inFlight.length === 0) await this.#foldForeign()
    const waiting = this.#queue.take(this.#batchSize(), this.#limits.urgentBatchMax)
    try {
      const before = this.#ahead
      const planned = await this.#planKnowingKeys(waiting, before)
      this.#queue.putBack(waiting.splice(planned.answers.length))
      this.#ahead = planned.after
      const stored = this.#line.store(planned.records, before.head)
      const batch: Batch = { waiting, planned, settled: stored.then((result) => this.#settle(batch, result)) }
      this.#inFlight.push(batch)
    } catch (error) {
      for (const { reject } of waiting) reject(error)
    }
  }

  /**
   * A share of all that is asked now, also of what is on its way: whoever is answered asks again, so batches that
   * are cut alike keep following each other. While one is stored, another is signed and a third is decided.
   */
  #batchSize(): number {
    const { batchMax, batchMin, inFlightMax } = this.#limits
    const onTheWay = this.#inFlight.reduce((sum, { waiting }) => sum + waiting.length, 0)
    const share = Math.ceil((this.#queue.length + onTheWay) / Math.max(1, inFlightMax - 1))
    return Math.min(batchMax, Math.max(batchMin, share))
  }

  /** Plans, and plans again if a dedupe key turns out to be stored already. */
  async #planKnowingKeys(requests: readonly Request[], before: Memory): Promise<Plan> {
    const known = new Map<string, Stamped>()
    for (const { planned } of this.#inFlight) for (const event of planned.events) remember(known, event)
    const now = new Date(
      Math.max(this.#parts.clock.now(), Date.parse(before.head.recordedAt) || 0),
    ).toISOString()
    const { clock, version = 'unknown', configuration = () => DEFAULT_CONFIGURATION } = this.#parts
    let turnBeganMs = performance.now()
    const context = {
      now,
      newId: () => clock.newId(),
      configuration: configuration(),
      version,
      sha256Hex,
      nodeId: this.nodeId,
      sign: (text: string) => Buffer.from(this.#parts.signer.sign(text), 'hex').toString('base64'),
      elapsedMs: () => Math.round(performance.now() - turnBeganMs),
    }
    const next = async ({ command }: Request): Promise<boolean> => {
      await nextTurn()
      turnBeganMs = performance.now()
      // What is urgent and came in meanwhile waits for a turn, not for the whole batch.
      return isUrgent(command) || !this.#queue.hasUrgent
    }
    const turns = { requestsMax: this.#limits.turnMax, next }
    const planned = await plan(requests, before, known, context, turns)
    const keys = planned.events.flatMap(({ dedupeKey }) => dedupeKey ?? [])
    if (keys.length === 0) return planned
    const stored = await this.log.findByDedupeKeys(keys)
    if (stored.size === 0) return planned
    for (const record of stored.values()) remember(known, stampedFrom(record))
    // Those that were left for later were not looked up.
    return plan(requests.slice(0, planned.answers.length), before, known, context, turns)
  }

  /** Called once per batch, in order. */
  #settle(batch: Batch, result: Stored): void {
    this.#inFlight.shift()
    if (result.status === 'failed') {
      this.#misled = true
      for (const { reject } of batch.waiting) reject(result.error)
    } else if (this.#misled && result.status === 'appended' && result.records.length > 0) {
      // It links to a batch whose storing looked failed: so that one was stored too. The log will tell us both.
      this.#stored.push(batch)
    } else if (this.#misled || result.status === 'head-moved') {
      this.#misled = true
      this.#undecided.push(...batch.waiting)
    } else {
      this.#advance(batch.planned.after)
      this.feed.publish({ records: result.records, events: batch.planned.events })
      answerAll(batch)
    }
  }

  /** What was decided ahead rests on something that was not stored: decide it again on what is. */
  async #startOver(): Promise<void> {
    await Promise.all(this.#inFlight.map(({ settled }) => settled))
    this.#queue.putBack(this.#undecided.splice(0))
    this.#misled = false
    this.#ahead = this.#durable
    await this.#foldForeign()
    for (const batch of this.#stored.splice(0)) answerAll(batch)
  }

  /** Folds what other processes stored. Only while nothing of ours is on its way. */
  async #foldForeign(): Promise<void> {
    const { seq } = await this.log.head()
    if (seq === this.#durable.head.seq) return
    const memory = await catchUp(this.log, this.#durable, (page) => {
      this.#advance(page.memory)
      this.feed.publish(page)
    })
    this.#ahead = memory
  }

  #advance(memory: Memory): void {
    this.#durable = memory
    for (const { resolve } of this.#advanceWaiters.splice(0)) resolve()
    this.#snapshots
      .keepIfDue(memory)
      .catch((error: unknown) => this.#parts.onError('no snapshot was kept', error))
  }

  #nextCommand(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  /** The log cannot even be read: everyone who waits is told. */
  #giveUp(error: unknown): void {
    const waiting = [
      ...this.#undecided.splice(0),
      ...this.#queue.takeAll(),
      ...this.#advanceWaiters.splice(0),
    ]
    if (waiting.length === 0) this.#parts.onError('the log could not be read', error)
    for (const { reject } of waiting) reject(error)
  }
}

interface Waiting extends Request {
  readonly resolve: (outcome: Outcome) => void
  readonly reject: (error: unknown) => void
}

interface Batch {
  readonly waiting: readonly Waiting[]
  readonly planned: Plan
  readonly settled: Promise<void>
}

const remember = (known: Map<string, Stamped>, event: Stamped): void => {
  if (event.dedupeKey !== null) known.set(event.dedupeKey, event)
}

const answerAll = ({ waiting, planned }: Batch): void => {
  for (const [index, caller] of waiting.entries()) answer(caller, planned.answers[index])
}

const answer = ({ resolve, reject }: Waiting, given: Answer | undefined): void => {
  if (given === undefined) reject(new Error('a command was not answered'))
  else if (given.status === 'broken') reject(given.error)
  else resolve(given)
}
