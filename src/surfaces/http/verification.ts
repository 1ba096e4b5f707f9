import type { IntegrityReport } from '../../engine/integrity/report.ts'
import type { VerifyProgress } from '../../engine/integrity/verify.ts'
import type { IntegrityCheck, IntegrityRequest } from './dependencies.ts'

/** A requested verification, shared by one or more callers. */
export interface VerificationJob {
  readonly id: string
  readonly mode: IntegrityRequest['mode']
  /** Number of the newest events that `fast` checks. */
  readonly n: number
  readonly status: 'waiting' | 'running' | 'done' | 'failed'
  readonly progress: VerifyProgress | null
  /** Set when the job is done. */
  readonly report: IntegrityReport | null
  readonly result: Promise<IntegrityReport>
}

/** Number of finished jobs that are kept for lookup. */
const FINISHED_MAX = 20

/** Up to this many of the newest events take milliseconds. Checking them is no job, and does not wait behind one. */
export const QUICK_EVENTS_MAX = 1000

/**
 * Runs one verification at a time, and beside it one check of a few of the newest events at a time. Many callers
 * therefore cause no more work than one.
 */
export class Verification {
  readonly #check: IntegrityCheck
  readonly #newId: () => string
  readonly #jobs: Line
  readonly #quick: Line
  #finished: readonly Job[] = []
  readonly #listeners = new Set<() => void>()
  #chainOk: boolean

  constructor(check: IntegrityCheck, chainOkAtStart: boolean, newId: () => string) {
    this.#check = check
    this.#chainOk = chainOkAtStart
    this.#newId = newId
    this.#jobs = new Line(
      (job) =>
        this.#verify(job, (progress) => {
          job.progress = progress
          this.#changed()
        }),
      (job) => {
        this.#finished = [job, ...this.#finished].slice(0, FINISHED_MAX)
        this.#changed()
      },
    )
    this.#quick = new Line(
      (job) => this.#verify(job),
      () => undefined,
    )
  }

  /** The result of the newest finished verification. */
  get chainOk(): boolean {
    return this.#chainOk
  }

  /** The running job, or null. */
  get running(): VerificationJob | null {
    return this.#jobs.running
  }

  find(id: string): VerificationJob | null {
    const { running, waiting } = this.#jobs
    const jobs = [...(running === null ? [] : [running]), ...waiting, ...this.#finished]
    return jobs.find((job) => job.id === id) ?? null
  }

  /** Calls the listener on every step of every job. Returns a function that removes the listener. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Checks a few of the newest events at once, beside a running job. */
  verifyNewest(n: number): Promise<IntegrityReport> {
    return this.#quick.ask({ mode: 'fast', n }, () => '').result
  }

  /** The job for the request: a new one, or one that other callers requested. */
  ask(request: IntegrityRequest): VerificationJob {
    return this.#jobs.ask(request, this.#newId)
  }

  async #verify(
    { mode, n }: IntegrityRequest,
    onProgress?: (progress: VerifyProgress) => void,
  ): Promise<IntegrityReport> {
    const found = await this.#check.verify({ mode, n }, onProgress)
    // A check of the newest events shows nothing about older ones.
    if (!found.ok || found.mode === 'full') this.#chainOk = found.ok
    return found
  }

  #changed(): void {
    for (const listener of this.#listeners) listener()
  }
}

type Mutable<T> = { -readonly [Member in keyof T]: T[Member] }

/** `n` grows while the job waits, with the requests of other callers. */
type Job = Mutable<VerificationJob>

/**
 * Jobs that run one after the other. A caller whose request is covered by the running or a waiting job shares that job.
 * A waiting check of the newest events uses the largest number requested.
 */
class Line {
  running: Job | null = null
  waiting: readonly Job[] = []
  /** Settles with the last requested job. */
  #newest: Promise<unknown> = Promise.resolve()
  readonly #verify: (job: Job) => Promise<IntegrityReport>
  readonly #onEnded: (job: Job) => void

  constructor(verify: (job: Job) => Promise<IntegrityReport>, onEnded: (job: Job) => void) {
    this.#verify = verify
    this.#onEnded = onEnded
  }

  ask({ mode, n }: IntegrityRequest, newId: () => string): Job {
    const { running } = this
    if (running !== null && running.mode === mode && (mode === 'full' || running.n >= n)) return running
    const waiting = this.waiting.find((job) => job.mode === mode)
    if (waiting !== undefined) {
      waiting.n = Math.max(waiting.n, n)
      return waiting
    }
    const job: Job = {
      id: newId(),
      mode,
      n,
      status: 'waiting',
      progress: { step: mode === 'full' ? 'hashes' : 'signatures', checked: 0, total: 0 },
      report: null,
      result: this.#newest.then(() => this.#run(job)),
    }
    // Callers that wait for the job receive its failure. Without callers, the job itself shows it.
    this.#newest = job.result.catch(() => undefined)
    this.waiting = [...this.waiting, job]
    return job
  }

  async #run(job: Job): Promise<IntegrityReport> {
    this.waiting = this.waiting.filter((other) => other !== job)
    this.running = job
    job.status = 'running'
    try {
      job.report = await this.#verify(job)
      job.status = 'done'
      return job.report
    } catch (error) {
      job.status = 'failed'
      throw error
    } finally {
      job.progress = null
      this.running = null
      this.#onEnded(job)
    }
  }
}
