import type { JsonObject } from '../core/shared/json.ts'

/** Work that any number of processes share: each job is done by one of them, and by another if that one dies. */
export interface JobQueue {
  /** The same id twice is one job. */
  send(queue: string, id: string, data: JsonObject): Promise<void>
  /** The oldest job that waits, of those that are not excepted; null if there is none. Whoever takes it has to `renew` it. */
  take(queue: string, except?: readonly string[]): Promise<TakenJob | null>
  /** The work goes on; false if the job was cancelled, or given to somebody else because this was not called in time. */
  renew(job: TakenJob, progress: number): Promise<boolean>
  /** Rejects with `OutputRefusedError`. This, `fail` and `giveBack` do nothing to a job that was cancelled, or given to somebody else. */
  complete(job: TakenJob, output: JsonObject): Promise<void>
  /** It went wrong: somebody takes it again, a few times at most. */
  fail(job: TakenJob, reason: string): Promise<void>
  /** Not for this worker: another one takes it, however often that takes. */
  giveBack(job: TakenJob, reason: string | null): Promise<void>
  get(queue: string, id: string): Promise<QueuedJob | null>
  /** Newest first, without the member `result` of what came out. */
  list(queue: string, limit: number): Promise<readonly QueuedJob[]>
  /** How many wait or are worked on. */
  countOpen(queue: string): Promise<number>
  /** False if it had ended before. */
  cancel(queue: string, id: string): Promise<boolean>
  remove(queue: string, ids: readonly string[]): Promise<void>
  close(): Promise<void>
}

/** What came out is too large for the queue, or has characters that it cannot store: another attempt would end alike. */
export class OutputRefusedError extends Error {
  override readonly name = 'OutputRefusedError'
}

export interface TakenJob {
  readonly queue: string
  readonly id: string
  readonly data: JsonObject
  /** Tells who took it from those who took it before. */
  readonly token: string
  readonly startedAt: string
}

export interface QueuedJob {
  readonly id: string
  readonly state: 'queued' | 'running' | 'done' | 'failed' | 'cancelled'
  readonly data: JsonObject
  /** From 0 to 1. */
  readonly progress: number
  readonly createdAt: string
  readonly startedAt: string | null
  readonly endedAt: string | null
  readonly attempts: number
  /** What `complete` was given; of a job that failed, a `message`. */
  readonly output: JsonObject
}
