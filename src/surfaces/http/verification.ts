import type { IntegrityReport } from '../../engine/integrity/report.ts'
import type { VerifyProgress } from '../../engine/integrity/verify.ts'
import type { IntegrityCheck, IntegrityRequest } from './dependencies.ts'

/** A verification that was asked for, by one caller or by many. */
export interface VerificationJob {
  readonly id: string
  readonly mode: IntegrityRequest['mode']
  /** How many of the newest events `fast` checks. */
  readonly n: number
  readonly status: 'waiting' | 'running' | 'done' | 'failed'
  readonly progress: VerifyProgress | null
  /** Set once it is done. */
  readonly report: IntegrityReport | null
}

/** Finished jobs that can still be asked for. */
const FINISHED_MAX = 20

/** So few of the newest events take milliseconds: they are not a job, and do not wait behind one. */
export const QUICK_EVENTS_MAX = 1000

/**
 * Runs verifications, one at a time. Whoever asks for what runs or waits already shares it, so that no number of
 * callers makes more work than one; a waiting check of the newest events takes the largest number that was asked for.
 */
export class Verification {
  readonly #check: IntegrityCheck
  readonly #newId: () => string
  #quickRunning: QuickCheck | null = null
  #quickWaiting: QuickCheck | null = null
  #running: Job | null = null
  #waiting: readonly Job[] = []
  #finished: readonly Job[] = []
  /** Ends with the last job that was asked for. */
  #newest: Promise<unknown> = Promise.resolve()
  readonly #listeners = new Set<() => void>()
  #chainOk: boolean

  constructor(check: IntegrityCheck, chainOkAtStart: boolean, newId: () => string) {
    this.#check = check
    this.#chainOk = chainOkAtStart
    this.#newId = newId
  }

  /** The result of the newest finished verification. */
  get chainOk(): boolean {
    return this.#chainOk
  }

  /** The job under way; null while none is. */
  get running(): VerificationJob | null {
    return this.#running
  }

  find(id: string): VerificationJob | null {
    const jobs = [...(this.#running === null ? [] : [this.#running]), ...this.#waiting, ...this.#finished]
    return jobs.find((job) => job.id === id) ?? null
  }

  /** Calls back on every step of every job. Returns how to stop. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * A few of the newest events: at once, beside a job. One such check at a time, and one that waits for everybody else,
   * so that callers who all ask for another number make no more work than one.
   */
  verifyNewest(n: number): Promise<IntegrityReport> {
    const running = this.#quickRunning
    if (running !== null && running.n >= n) return running.report
    const waiting = this.#quickWaiting
    if (waiting !== null) {
      waiting.n = Math.max(waiting.n, n)
      return waiting.report
    }
    const before = running?.report.catch(() => undefined) ?? Promise.resolve()
    const check: QuickCheck = { n, report: before.then(() => this.#runQuick(check)) }
    this.#quickWaiting = check
    return check.report
  }

  async #runQuick(check: QuickCheck): Promise<IntegrityReport> {
    this.#quickWaiting = null
    this.#quickRunning = check
    try {
      return await this.#verify({ mode: 'fast', n: check.n })
    } finally {
      this.#quickRunning = null
    }
  }

  /** The job that verifies what is asked for, a new one or one that others asked for. */
  ask(request: IntegrityRequest): {
    readonly job: VerificationJob
    readonly report: Promise<IntegrityReport>
  } {
    const job = this.#jobFor(request)
    return { job, report: job.result }
  }

  #jobFor({ mode, n }: IntegrityRequest): Job {
    const running = this.#running
    if (running !== null && running.mode === mode && (mode === 'full' || running.n >= n)) return running
    const waiting = this.#waiting.find((job) => job.mode === mode)
    if (waiting !== undefined) {
      waiting.n = Math.max(waiting.n, n)
      return waiting
    }
    const job: Job = {
      id: this.#newId(),
      mode,
      n,
      status: 'waiting',
      progress: { step: mode === 'full' ? 'hashes' : 'signatures', checked: 0, total: 0 },
      report: null,
      result: this.#newest.then(() => this.#run(job)),
    }
    // Whoever waits for it gets the failure; if nobody does any more, the job shows it.
    this.#newest = job.result.catch(() => undefined)
    this.#waiting = [...this.#waiting, job]
    return job
  }

  async #run(job: Job): Promise<IntegrityReport> {
    this.#waiting = this.#waiting.filter((other) => other !== job)
    this.#running = job
    job.status = 'running'
    try {
      const { mode, n } = job
      const report = await this.#verify({ mode, n }, (progress) => {
        job.progress = progress
        this.#changed()
      })
      job.report = report
      job.status = 'done'
      return report
    } catch (error) {
      job.status = 'failed'
      throw error
    } finally {
      job.progress = null
      this.#running = null
      this.#finished = [job, ...this.#finished].slice(0, FINISHED_MAX)
      this.#changed()
    }
  }

  async #verify(
    request: IntegrityRequest,
    onProgress?: (progress: VerifyProgress) => void,
  ): Promise<IntegrityReport> {
    const found = await this.#check.verify(request, onProgress)
    // A check of the newest events says nothing about older ones.
    if (!found.ok || found.mode === 'full') this.#chainOk = found.ok
    return found
  }

  #changed(): void {
    for (const listener of this.#listeners) listener()
  }
}

/** `n` grows while it waits, by what others ask for. */
interface QuickCheck {
  n: number
  readonly report: Promise<IntegrityReport>
}

type Mutable<T> = { -readonly [Member in keyof T]: T[Member] }

type Job = Mutable<VerificationJob> & { readonly result: Promise<IntegrityReport> }
