import { setTimeout as sleep } from 'node:timers/promises'
import { canonicalJson } from '../../core/log/canonical-json.ts'
import type { Json, JsonObject } from '../../core/shared/json.ts'
import { sha256Hex } from '../../engine/sha256.ts'
import type { JobQueue, TakenJob } from '../../ports/job-queue.ts'
import { TaskFailedError, type TaskReport, type TaskRunner } from '../sweep/task.ts'
import { IDLE_MS, LeftError } from './job-worker.ts'
import { messageOf, RUNS_QUEUE } from './queued-runs.ts'

export const TRIALS_QUEUE = 'trials'

/** Number of runs of one sweep that are in the queue at once. */
const TRIALS_AT_ONCE = 16

/**
 * The runs of a sweep as jobs of their own. Their ids derive from what they compute, so a worker that resumes the sweep
 * finds them.
 */
export class TrialJobs {
  readonly #queue: JobQueue
  /** Ids of the runs of the current sweep. */
  readonly #ids = new Set<string>()

  constructor(queue: JobQueue) {
    this.#queue = queue
  }

  /** Runs the tasks of a sweep through the queue, on the terms of the sweep. */
  runnerFor({ id: runId, data: terms }: TakenJob): TaskRunner {
    const queue = this.#queue
    return {
      width: TRIALS_AT_ONCE,
      run: async (task, { signal }) => {
        const { settings, data, version } = terms
        const trial = JSON.parse(JSON.stringify({ task, settings, data, version })) as JsonObject
        const id = uuidOf(sha256Hex(`${runId} ${canonicalJson(trial)}`))
        this.#ids.add(id)
        const before = await queue.get(TRIALS_QUEUE, id)
        // Left by a failed attempt at the sweep. This attempt needs the run.
        if (before?.state === 'cancelled') await queue.remove(TRIALS_QUEUE, [id])
        await queue.send(TRIALS_QUEUE, id, trial)
        return this.#resultOf(id, runId, signal)
      },
      close: () => Promise.resolve(),
    }
  }

  /** Removes the runs of a sweep that has ended. A later attempt at the sweep would still need them. */
  async forget({ id }: TakenJob): Promise<void> {
    if (this.#ids.size > 0 && !(await isOpen(this.#queue, id)))
      await this.#queue.remove(TRIALS_QUEUE, [...this.#ids])
    this.#ids.clear()
  }

  async #resultOf(id: string, runId: string, signal: AbortSignal): Promise<TaskReport> {
    const queue = this.#queue
    for (;;) {
      const job = await queue.get(TRIALS_QUEUE, id)
      if (signal.aborted && !(await isTakenUpAgain(queue, runId, signal)))
        await queue.cancel(TRIALS_QUEUE, id)
      signal.throwIfAborted()
      if (job === null || job.state === 'failed' || job.state === 'cancelled') {
        const reason = job === null ? 'it is gone' : messageOf(job.output)
        throw new Error(`a run of the sweep was not done: ${reason}`)
      }
      const { error, result } = job.output as {
        readonly error?: { code: string; message: string }
        readonly result?: Json
      }
      if (error !== undefined) throw new TaskFailedError(error.code, error.message)
      if (job.state === 'done') return result as unknown as TaskReport
      await sleep(IDLE_MS)
    }
  }
}

/** True if another worker continues the sweep, and needs its runs. */
const isTakenUpAgain = async (queue: JobQueue, runId: string, { reason }: AbortSignal): Promise<boolean> =>
  reason instanceof LeftError && isOpen(queue, runId)

const isOpen = async (queue: JobQueue, runId: string): Promise<boolean> => {
  const run = await queue.get(RUNS_QUEUE, runId)
  return run?.state === 'queued' || run?.state === 'running'
}

const uuidOf = (hex: string): string =>
  [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-')
