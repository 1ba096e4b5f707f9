import type { JsonObject } from '../core/shared/json.ts'

/**
 * Work that any number of processes share. Each job is done by one of them, and by another one if that process dies.
 */
export interface JobQueue {
  /** Sends a job. Sending the same id again has no effect. */
  send(queue: string, id: string, data: JsonObject): Promise<void>
  /**
   * Takes the oldest waiting job that is not excepted; null if there is none. The worker that takes it must `renew` it.
   */
  take(queue: string, except?: readonly string[]): Promise<TakenJob | null>
  /**
   * Reports that the work continues. Returns false if the job was cancelled, or given to another worker because this
   * call came too late.
   */
  renew(job: TakenJob, progress: number): Promise<boolean>
  /**
   * Rejects with `OutputRefusedError`. Like `fail` and `giveBack`, it does nothing to a job that was cancelled or given
   * to another worker.
   */
  complete(job: TakenJob, output: JsonObject): Promise<void>
  /** Reports a failure. The job is tried again, a limited number of times. */
  fail(job: TakenJob, reason: string): Promise<void>
  /** Returns a job that this worker cannot do. Another one takes it. The number of returns is not limited. */
  giveBack(job: TakenJob, reason: string | null): Promise<void>
  get(queue: string, id: string): Promise<QueuedJob | null>
  /** Newest jobs first, without the member `result` of their output. */
  list(queue: string, limit: number): Promise<readonly QueuedJob[]>
  /** Number of jobs that wait or are in progress. */
  countOpen(queue: string): Promise<number>
  /** Returns false if the job had ended before. */
  cancel(queue: string, id: string): Promise<boolean>
  remove(queue: string, ids: readonly string[]): Promise<void>
  close(): Promise<void>
}

/**
 * Thrown if the output is too large for the queue, or has characters that it cannot store. Another attempt would fail
 * alike.
 */
export class OutputRefusedError extends Error {
  override readonly name = 'OutputRefusedError'
}

export interface TakenJob {
  readonly queue: string
  readonly id: string
  readonly data: JsonObject
  /** Identifies the worker that currently holds the job. */
  readonly token: string
}

export interface QueuedJob {
  readonly id: string
  readonly state: 'queued' | 'running' | 'done' | 'failed' | 'cancelled'
  readonly data: JsonObject
  /** Progress from 0 to 1. */
  readonly progress: number
  readonly createdAt: string
  readonly startedAt: string | null
  readonly endedAt: string | null
  readonly attempts: number
  /** Output passed to `complete`. For a failed job, an object with a `message`. */
  readonly output: JsonObject
}
