import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '../../core/shared/json.ts'
import { OutputRefusedError, type JobQueue, type TakenJob } from '../../ports/job-queue.ts'
import { TaskFailedError } from '../sweep/task.ts'

/** Time without renewal after which a job is given to another worker. */
export const LEASE_SECONDS = 15
const RENEW_MS = 2000
export const IDLE_MS = 500
/** Time after which a worker checks again whether it has the files of a job: they may have been copied meanwhile. */
const UNFIT_MS = 15_000
const AWAY_MS_MAX = 8000

export interface WorkOptions {
  readonly signal: AbortSignal
  readonly onProgress: (done: number, total: number) => void
}

/** Does one job, and returns its output. */
export type JobHandler = (job: TakenJob, work: WorkOptions) => Promise<JsonObject>

/** Thrown by a handler: this worker cannot do the job. Another worker may be able to. */
export class UnfitError extends Error {
  override readonly name = 'UnfitError'
}

/** This worker has stopped working on the job. Another worker may continue. */
export class LeftError extends Error {
  override readonly name = 'LeftError'
}

/** Takes jobs and does them, one at a time in each loop, until it is closed. The lease of a job is renewed meanwhile. */
export class JobWorker {
  readonly #queue: JobQueue
  readonly #onError: (what: string, error: unknown) => void
  readonly #stop = new AbortController()
  readonly #loops: Promise<void>[] = []
  /** Time at which this worker last found that it lacks the files of a job. */
  readonly #unfit = new Map<string, number>()

  constructor(queue: JobQueue, onError: (what: string, error: unknown) => void) {
    this.#queue = queue
    this.#onError = onError
  }

  /** Starts a loop on a queue. `onEnd` is called after every job. */
  start(name: string, handle: JobHandler, onEnd: (job: TakenJob) => Promise<void> = nothing): void {
    this.#loops.push(this.#loop(name, handle, onEnd))
  }

  /** Gives back the jobs in progress. */
  async close(): Promise<void> {
    this.#stop.abort(new LeftError('the worker stops'))
    await Promise.all(this.#loops)
  }

  async #loop(name: string, handle: JobHandler, onEnd: (job: TakenJob) => Promise<void>): Promise<void> {
    const { signal } = this.#stop
    let awayMs = IDLE_MS
    while (!signal.aborted) {
      try {
        const job = await this.#queue.take(name, this.#leftToOthers())
        awayMs = IDLE_MS
        if (job === null) await pause(IDLE_MS, signal)
        else {
          await this.#workOn(job, handle)
          await onEnd(job)
        }
      } catch (error) {
        // The database may be unreachable for a while.
        this.#onError('could not work on a job', error)
        await pause(awayMs, signal)
        awayMs = Math.min(2 * awayMs, AWAY_MS_MAX)
      }
    }
  }

  /** Jobs that this worker skips for a while, so that others can take them. They do not delay later jobs. */
  #leftToOthers(): readonly string[] {
    for (const [id, atMs] of this.#unfit) if (performance.now() - atMs >= UNFIT_MS) this.#unfit.delete(id)
    return [...this.#unfit.keys()]
  }

  async #workOn(job: TakenJob, handle: JobHandler): Promise<void> {
    const lost = new AbortController()
    let progress = 0
    const renewing = setInterval(() => {
      this.#queue.renew(job, progress).then(
        (isOurs) => (isOurs ? undefined : lost.abort(new LeftError('the job is not ours any more'))),
        (error: unknown) => this.#onError('could not renew a job', error),
      )
    }, RENEW_MS)
    try {
      const signal = AbortSignal.any([this.#stop.signal, lost.signal])
      const onProgress = (done: number, total: number): void => {
        progress = total > 0 ? Math.min(1, Math.max(0, done / total)) : 0
      }
      await this.#handOver(job, await handle(job, { signal, onProgress }), signal)
    } catch (error) {
      if (!lost.signal.aborted) await this.#endWith(error, job)
    } finally {
      clearInterval(renewing)
    }
  }

  /**
   * Stores a result. The database may be unreachable at the end of long work: the job stays ours until its lease ends.
   */
  async #handOver(job: TakenJob, output: JsonObject, signal: AbortSignal): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#queue.complete(job, output)
      } catch (error) {
        if (error instanceof OutputRefusedError)
          throw new TaskFailedError('internal.error', `the result cannot be stored: ${error.message}`)
        if (signal.aborted || attempt * IDLE_MS >= LEASE_SECONDS * 1000) throw error
        this.#onError('could not store a result yet', error)
        await sleep(IDLE_MS)
      }
    }
  }

  /** A failed task is a result. Any other error returns the job to the queue, for another attempt or another worker. */
  async #endWith(error: unknown, job: TakenJob): Promise<void> {
    if (error instanceof TaskFailedError) {
      return this.#queue.complete(job, { error: { code: error.code, message: error.message } })
    }
    if (this.#stop.signal.aborted) return this.#queue.giveBack(job, null)
    const reason = error instanceof Error ? error.message : String(error)
    this.#onError('a job is given back', error)
    if (!(error instanceof UnfitError)) return this.#queue.fail(job, reason)
    this.#unfit.set(job.id, performance.now())
    await this.#queue.giveBack(job, reason)
  }
}

const nothing = (): Promise<void> => Promise.resolve()

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => undefined)
