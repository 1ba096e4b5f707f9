import { boundReached, TOKEN_OWNER, type Holder } from '../../core/shared/fair-share.ts'
import type { JsonObject } from '../../core/shared/json.ts'
import { isoNow } from '../../engine/iso-now.ts'
import type { Clock } from '../../ports/clock.ts'
import { TaskFailedError, type TaskOptions } from '../sweep/task.ts'
import {
  hasEnded,
  RunRefusedError,
  type BacktestRuns,
  type Run,
  type RunKind,
  type RunResult,
  type RunWithResult,
  type Submitted,
} from './runs.ts'
import { figuresOf, verdictOfResult } from './verdict.ts'

type StoredRun = Omit<Run, 'owner'> & { readonly owner?: string }

/** Stores runs so that they outlive the process. */
export interface RunStore {
  /** Runs in any order, without their results. Runs stored by earlier releases have no owner. */
  load(): Promise<readonly StoredRun[]>
  save(run: RunWithResult): Promise<void>
  /** Null if there is no result, or not yet. */
  result(id: string): Promise<RunResult | null>
  remove(id: string): Promise<void>
}

export interface LocalRunsDependencies {
  readonly store: RunStore
  readonly clock: Clock
  readonly settings: () => { readonly max_queued: number; readonly keep: number }
  /** Throws `RunRefusedError` for a request that cannot be run. */
  readonly check: (kind: RunKind, request: JsonObject) => Promise<void>
  readonly work: (run: Run, options: TaskOptions) => Promise<RunResult>
  readonly onError: (what: string, error: unknown) => void
}

/** A run that was interrupted this often is not started again. */
const ATTEMPTS_MAX = 3

/** Executes the runs of one process one at a time, oldest first. */
export class LocalRuns implements BacktestRuns {
  readonly #dependencies: LocalRunsDependencies
  /** Runs in the order of their submission. */
  readonly #runs = new Map<string, Run>()
  /** Results that are not stored yet, or could not be stored. */
  readonly #unsaved = new Map<string, RunResult>()
  readonly #listeners = new Set<(run: Run) => void>()
  #active: { readonly id: string; readonly stop: AbortController } | null = null
  #working: Promise<void> = Promise.resolve()
  #isWorking = false
  #isClosed = false

  private constructor(dependencies: LocalRunsDependencies) {
    this.#dependencies = dependencies
  }

  /** Restarts runs that were waiting or running when the process ended. */
  static async open(dependencies: LocalRunsDependencies): Promise<LocalRuns> {
    const runs = new LocalRuns(dependencies)
    const loaded = await dependencies.store.load()
    for (const stored of loaded.toSorted(byAge)) {
      const run = { ...stored, owner: stored.owner ?? TOKEN_OWNER }
      const again = hasEnded(run) ? run : { ...run, status: 'queued' as const, progress: 0, started_at: null }
      runs.#runs.set(run.id, again)
    }
    await runs.#forgetOld()
    runs.#workSoon()
    return runs
  }

  async submit(kind: RunKind, request: JsonObject, by: Holder): Promise<Submitted> {
    try {
      await this.#dependencies.check(kind, request)
    } catch (error) {
      if (error instanceof RunRefusedError) return { status: 'refused', reason: error.message }
      throw error
    }
    const { max_queued: max } = this.#dependencies.settings()
    const owners = this.#open().map(({ owner }) => owner)
    const bound = boundReached(max, owners, by)
    if (bound !== null) return { status: 'full', max: bound }
    const { clock, store } = this.#dependencies
    const run: Run = {
      id: clock.newId(),
      kind,
      owner: by.owner,
      status: 'queued',
      request,
      progress: 0,
      created_at: isoNow(clock),
      started_at: null,
      ended_at: null,
      attempts: 0,
      error: null,
      verdict: null,
      edge_found: null,
      figures: null,
    }
    // Counted before the run is stored, because other requests may arrive meanwhile.
    this.#runs.set(run.id, run)
    try {
      await store.save({ ...run, result: null })
    } catch (error) {
      this.#runs.delete(run.id)
      throw error
    }
    this.#report(run)
    this.#workSoon()
    return { status: 'accepted', run }
  }

  list(kind: RunKind): Promise<readonly Run[]> {
    return Promise.resolve([...this.#runs.values()].filter((run) => run.kind === kind).reverse())
  }

  async get(id: string): Promise<RunWithResult | null> {
    const run = this.#runs.get(id)
    if (run === undefined) return null
    if (run.status !== 'done') return { ...run, result: null }
    return { ...run, result: this.#unsaved.get(id) ?? (await this.#dependencies.store.result(id)) }
  }

  async cancel(id: string): Promise<'cancelled' | 'removed' | null> {
    const run = this.#runs.get(id)
    if (run === undefined) return null
    if (hasEnded(run)) {
      this.#runs.delete(id)
      this.#unsaved.delete(id)
      await this.#dependencies.store.remove(id)
      return 'removed'
    }
    if (this.#active?.id === id) this.#active.stop.abort(new CancelledError())
    await this.#end(id, { status: 'cancelled' })
    return 'cancelled'
  }

  onChange(listener: (run: Run) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#active?.stop.abort(new CancelledError())
    await this.#working
  }

  #open(): readonly Run[] {
    return [...this.#runs.values()].filter((run) => !hasEnded(run))
  }

  #next(): Run | undefined {
    return this.#open().find(({ status }) => status === 'queued')
  }

  #workSoon(): void {
    if (this.#isWorking || this.#isClosed) return
    this.#isWorking = true
    this.#working = this.#work()
      .catch((error: unknown) => this.#dependencies.onError('backtests stopped', error))
      .finally(() => {
        this.#isWorking = false
        // A run may have been submitted after the last check, and before this line.
        if (this.#next() !== undefined) this.#workSoon()
      })
  }

  async #work(): Promise<void> {
    for (;;) {
      const next = this.#next()
      if (next === undefined || this.#isClosed) return
      await this.#workOn(next)
    }
  }

  async #workOn({ id, attempts }: Run): Promise<void> {
    if (attempts >= ATTEMPTS_MAX) {
      const message = `it was interrupted ${attempts} times`
      await this.#end(id, { status: 'failed', error: { code: 'backtest.interrupted', message } })
      return
    }
    const stop = new AbortController()
    this.#active = { id, stop }
    try {
      const { clock, store, work } = this.#dependencies
      const started_at = isoNow(clock)
      const run = this.#change(id, { status: 'running', started_at, attempts: attempts + 1 })
      if (run === null) return
      await store.save({ ...run, result: null })
      if (stop.signal.aborted) return
      const result = await work(run, {
        signal: stop.signal,
        onProgress: (done, total) => {
          const progress = total > 0 ? Math.min(1, Math.max(0, done / total)) : 0
          if (!stop.signal.aborted) this.#change(id, { progress })
        },
      })
      if (stop.signal.aborted) return
      const figures = figuresOf(result)
      await this.#end(id, { status: 'done', progress: 1, figures, ...verdictOfResult(result) }, result)
    } catch (error) {
      if (stop.signal.aborted) return
      await this.#end(id, { status: 'failed', error: errorOf(error) })
      if (!(error instanceof TaskFailedError)) this.#dependencies.onError('a backtest failed', error)
    } finally {
      this.#active = null
    }
  }

  async #end(id: string, change: Partial<Run>, result: RunResult | null = null): Promise<void> {
    const { clock, store, onError } = this.#dependencies
    if (result !== null) this.#unsaved.set(id, result)
    const run = this.#change(id, { ...change, ended_at: isoNow(clock) })
    try {
      if (run !== null) await store.save({ ...run, result })
      this.#unsaved.delete(id)
    } catch (error) {
      // The result stays available until this process ends.
      onError('the result of a backtest could not be stored', error)
    }
    await this.#forgetOld()
  }

  #change(id: string, change: Partial<Run>): Run | null {
    const before = this.#runs.get(id)
    // A cancelled run stays cancelled.
    if (before === undefined || hasEnded(before)) return null
    const run = { ...before, ...change }
    this.#runs.set(id, run)
    this.#report(run)
    return run
  }

  #report(run: Run): void {
    for (const listener of this.#listeners) listener(run)
  }

  async #forgetOld(): Promise<void> {
    const ended = [...this.#runs.values()].filter(hasEnded)
    for (const { id } of ended.slice(0, Math.max(0, ended.length - this.#dependencies.settings().keep))) {
      this.#runs.delete(id)
      this.#unsaved.delete(id)
      await this.#dependencies.store.remove(id)
    }
  }
}

class CancelledError extends Error {
  override readonly name = 'CancelledError'
}

const byAge = (one: StoredRun, other: StoredRun): number =>
  one.created_at + one.id < other.created_at + other.id ? -1 : 1

const errorOf = (error: unknown): NonNullable<Run['error']> =>
  error instanceof TaskFailedError
    ? { code: error.code, message: error.message }
    : { code: 'internal.error', message: error instanceof Error ? error.message : String(error) }
