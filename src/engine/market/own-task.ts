import type { FeedBar } from '../../core/market/bar.ts'
import { canonicalSymbol } from '../../core/shared/symbol.ts'
import { timestampAt } from '../../core/shared/time.ts'
import { mayRun, ownEndpoint } from '../../core/signals/producers.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Executor } from '../plan.ts'
import type { ProducerRunner } from './producer-runner.ts'

export interface OwnTaskDependencies {
  readonly engine: Executor
  readonly clock: Clock
  readonly producerRunner: ProducerRunner
  /** Called if the user's code threw, hung, or returned an invalid answer. */
  readonly onFailure: (name: string, error: unknown) => void
  /** Called if a failure could not be recorded. */
  readonly onError: (what: string, error: unknown) => void
}

/** Registration of the user's file as an author. */
export interface TaskRegistration {
  readonly domain: string
  readonly schedule: string
}

interface OwnTaskOptions<Opened> {
  readonly kind: 'strategy' | 'producer'
  readonly name: string
  readonly open: () => Promise<Opened>
  /** `opened` is null until the file was read, and for a file that cannot be read. */
  readonly registrationOf: (opened: Opened | null) => TaskRegistration
}

/** A file of the user, from opening it to its failure, repeatedly. One run at a time. */
export class OwnTask<Opened extends { close(): Promise<void> }> {
  readonly #options: OwnTaskOptions<Opened>
  readonly #dependencies: OwnTaskDependencies
  #opened: Opened | null = null
  #isBusy = false
  #isClosed = false
  /** True if another author has the name. */
  #isRefused = false
  #underWay: Promise<void> = Promise.resolve()

  constructor(options: OwnTaskOptions<Opened>, dependencies: OwnTaskDependencies) {
    this.#options = options
    this.#dependencies = dependencies
  }

  get opened(): Opened | null {
    return this.#opened
  }

  get registration(): TaskRegistration {
    return this.#options.registrationOf(this.#opened)
  }

  get isBusy(): boolean {
    return this.#isBusy
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** The current run, or the last one. */
  get underWay(): Promise<void> {
    return this.#underWay
  }

  /** Whether it is neither refused nor in quarantine. */
  mayRun(): boolean {
    if (this.#isRefused) return false
    const { engine, clock } = this.#dependencies
    const record = engine.state.signals.producers.runs.get(this.#options.name)
    return mayRun(record, timestampAt(clock.now()))
  }

  /** Starts a run unless one is active. Never rejects. */
  begin(work: () => Promise<void>): Promise<void> {
    if (this.#isBusy) return this.#underWay
    this.#isBusy = true
    const { kind, name } = this.#options
    // While the store is unavailable, not even a failure can be recorded.
    this.#underWay = work()
      .catch((error: unknown) => this.#dependencies.onError(`could not run the ${kind} ${name}`, error))
      .finally(() => {
        this.#isBusy = false
      })
    return this.#underWay
  }

  /** Runs and records a failure. The next attempt opens the file again. */
  async attempt(run: (startedMs: number) => Promise<void>): Promise<void> {
    const startedMs = this.#dependencies.clock.now()
    try {
      await run(startedMs)
    } catch (error) {
      if (!this.#isClosed) await this.#fail(error, startedMs)
    }
  }

  /** Opens and registers. Throws if it was closed meanwhile. */
  async open(): Promise<Opened> {
    if (this.#opened !== null) return this.#opened
    const opened = await this.#options.open()
    this.#opened = opened
    if (this.#isClosed) throw new Error('it is closed')
    await this.#register(this.registration)
    return opened
  }

  /** Ends the user's code first, so that a hanging run does not delay closing. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#end()
    await this.#underWay
    await this.#end()
  }

  async #fail(error: unknown, startedMs: number): Promise<void> {
    const { producerRunner, onFailure } = this.#dependencies
    const { name } = this.#options
    onFailure(name, error)
    const { schedule } = this.registration
    await this.#end()
    // A file that could not be opened may not be registered yet. If another author has the name, nothing is recorded.
    this.#isRefused = !(await this.#isRegistered())
    if (this.#isRefused) return
    // A lone surrogate cannot be stored, so the failure would not count.
    const reason = (error instanceof Error ? error.message : String(error)).slice(0, 1000).toWellFormed()
    const run = { status: 'failed', reason } as const
    await producerRunner.recordRun({ name, schedule, run, ts: timestampAt(startedMs), startedMs })
  }

  async #isRegistered(): Promise<boolean> {
    const { kind, name } = this.#options
    const { registered } = this.#dependencies.engine.state.signals.producers
    if (!registered.has(name)) return (await this.#execute(this.registration)) === null
    return registered.get(name)?.endpoint === ownEndpoint(kind, name)
  }

  /** Registers the file as an author, with the domain and schedule that it states now. */
  async #register(registration: TaskRegistration): Promise<void> {
    const { kind, name } = this.#options
    const { engine } = this.#dependencies
    const known = engine.state.signals.producers.registered.get(name)
    const isOwn = known?.endpoint === ownEndpoint(kind, name)
    if (isOwn && known.domain === registration.domain && known.schedule === registration.schedule) return
    if (isOwn) await engine.execute({ kind: 'remove-producer', name, surface: 'system' })
    const refused = await this.#execute(registration)
    if (refused !== null) throw new Error(refused)
  }

  /** Returns why the registration was refused, or null. */
  async #execute({ domain, schedule }: TaskRegistration): Promise<string | null> {
    const { kind, name } = this.#options
    const producer = { name, domain, endpoint: ownEndpoint(kind, name), schedule }
    const outcome = await this.#dependencies.engine.execute({
      kind: 'register-producer',
      producer,
      surface: 'system',
    })
    return outcome.status === 'refused' ? outcome.refusal.detail : null
  }

  async #end(): Promise<void> {
    const opened = this.#opened
    this.#opened = null
    await opened?.close()
  }
}

/** The bars that were stored. Strategies do not trade on bars that were refused, or that wait for confirmation. */
export const storedBars = (
  bars: readonly FeedBar[],
  { state }: Pick<Executor, 'state'>,
): readonly FeedBar[] =>
  bars.filter(({ symbol, close_ts: closeTs }) => {
    const last = state.market.symbols.get(canonicalSymbol(symbol))?.last
    return last !== undefined && closeTs <= last.close_ts
  })
