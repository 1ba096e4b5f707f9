import { setTimeout as sleep } from 'node:timers/promises'
import type { RunKind } from '../backtest/runs/runs.ts'
import { messageOf, outputOf, RUNS_QUEUE } from '../backtest/runs/queued-runs.ts'
import {
  TaskFailedError,
  type BacktestTask,
  type TaskReport,
  type TaskRunner,
} from '../backtest/sweep/task.ts'
import type { Configuration } from '../core/config/schema.ts'
import { canonicalJson } from '../core/log/canonical-json.ts'
import type { Json, JsonObject } from '../core/shared/json.ts'
import { sha256Hex } from '../engine/sha256.ts'
import { OutputRefusedError, type JobQueue, type TakenJob } from '../ports/job-queue.ts'
import { Failure } from '../surfaces/cli/failure.ts'
import { RunProcesses } from './run-processes.ts'
import { codeHash } from './code-hash.ts'
import { runSettingsOf, type RunSettings } from './run-settings.ts'
import { taskDataOf } from './run-range.ts'
import { runWork } from './run-work.ts'

export const TRIALS_QUEUE = 'trials'

/** Time without renewal after which a job is given to another worker. */
export const LEASE_SECONDS = 15
const RENEW_MS = 2000
const IDLE_MS = 500
/** Time after which a worker checks again whether it has the files of a job: they may have been copied meanwhile. */
const UNFIT_MS = 15_000
const AWAY_MS_MAX = 8000
/** Number of runs of one sweep that are in the queue at once. */
const TRIALS_AT_ONCE = 16

export interface QueueWorkerOptions {
  readonly queue: JobQueue
  readonly home: string
  readonly version: string
  /** Configuration of this process. The settings that affect results come with the job. */
  readonly configuration: () => Configuration
  /** Number of runs at once. */
  readonly width: number
  readonly onError: (what: string, error: unknown) => void
}

/** Hash of the files that a job reads in addition to the log: bars, and code of the user. Null without any. */
export const jobDataOf = async (
  task: BacktestTask,
  configuration: Configuration,
  home: string,
): Promise<string | null> => {
  const { hash } = await taskDataOf({ ...task, fromMs: null, toMs: null }, configuration, home)
  return hash ?? codeHash(task.strategy, home)
}

/** Terms under which every worker computes the same result. */
export interface JobTerms {
  readonly settings: RunSettings
  readonly data: string | null
  readonly version: string
}

/**
 * Runs backtests and the runs of sweeps until it is closed. Bars are read from the home of the worker, and must be
 * identical to those of the request. A run on the log reads the log.
 */
export const openQueueWorker = (options: QueueWorkerOptions) => {
  const { queue, home, version, configuration, width, onError } = options
  const stop = new AbortController()
  const processes = new RunProcesses({
    home,
    version,
    width,
    settings: () => runSettingsOf(configuration()),
    isService: true,
  })
  const known = new HashCache()
  /** Ids of the runs of the current sweep. */
  const trials = new Set<string>()
  /** Time at which this worker last found that it lacks the files of a job. */
  const unfit = new Map<string, number>()
  /** Jobs that this worker skips for a while, so that others can take them. They do not delay later jobs. */
  const leftToOthers = (): readonly string[] => {
    for (const [id, atMs] of unfit) if (performance.now() - atMs >= UNFIT_MS) unfit.delete(id)
    return [...unfit.keys()]
  }

  const checkTerms = async (terms: JobTerms, task: BacktestTask): Promise<void> => {
    if (terms.version !== version) {
      throw new UnfitError(`this worker is of version ${version}, the job of ${terms.version}`)
    }
    const merged: Configuration = { ...configuration(), ...terms.settings }
    const find = (): Promise<string | null> =>
      jobDataOf(task, merged, home).catch((error: unknown) => {
        throw error instanceof Failure ? new UnfitError(error.message) : error
      })
    if ((await known.get(task, find)) === terms.data) return
    // Bars, code or settings may have changed since the last check.
    if ((await known.find(task, find)) !== terms.data)
      throw new UnfitError('bars or own code of this worker are not those that were meant')
  }

  const onRun = async (job: TakenJob, work: WorkOptions): Promise<JsonObject> => {
    const { kind, request } = job.data as unknown as { readonly kind: RunKind; readonly request: JsonObject }
    const terms = job.data as unknown as JobTerms
    const merged: Configuration = { ...configuration(), ...terms.settings }
    const { baseTask, run } = runWork({ home, version, configuration: () => merged })
    await checkTerms(terms, baseTask(kind, request))
    const runner = kind === 'sweep' ? trialRunner(queue, job, trials) : withSettings(processes, terms)
    return outputOf(await run({ kind, request }, runner, work))
  }

  const onTrial = async (job: TakenJob, work: WorkOptions): Promise<JsonObject> => {
    const { task, ...terms } = job.data as unknown as JobTerms & { readonly task: BacktestTask }
    await checkTerms(terms, task)
    const report = await withSettings(processes, terms).run(task, work)
    // Trades and charts are most of a report, and a sweep of thousands of runs reads none of them.
    const result: TaskReport = { ...report, closed_trades: [], chart: { equity: [], candles: {} } }
    return { result: result as unknown as Json }
  }

  /**
   * Stores a result. The database may be unreachable at the end of long work: the job stays ours until its lease ends.
   */
  const handOver = async (job: TakenJob, output: JsonObject, signal: AbortSignal): Promise<void> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await queue.complete(job, output)
      } catch (error) {
        if (error instanceof OutputRefusedError)
          throw new TaskFailedError('internal.error', `the result cannot be stored: ${error.message}`)
        if (signal.aborted || attempt * IDLE_MS >= LEASE_SECONDS * 1000) throw error
        onError('could not store a result yet', error)
        await sleep(IDLE_MS)
      }
    }
  }

  /** Removes the runs of a sweep that has ended. A later attempt at the sweep would still need them. */
  const forgetTrials = async ({ id }: TakenJob): Promise<void> => {
    if (trials.size > 0 && !(await isOpen(queue, id))) await queue.remove(TRIALS_QUEUE, [...trials])
    trials.clear()
  }

  const workOn = async (
    job: TakenJob,
    handle: (job: TakenJob, work: WorkOptions) => Promise<JsonObject>,
  ): Promise<void> => {
    const lost = new AbortController()
    let progress = 0
    const renewing = setInterval(() => {
      queue.renew(job, progress).then(
        (isOurs) => (isOurs ? undefined : lost.abort(new LeftError('the job is not ours any more'))),
        (error: unknown) => onError('could not renew a job', error),
      )
    }, RENEW_MS)
    try {
      const signal = AbortSignal.any([stop.signal, lost.signal])
      const onProgress = (done: number, total: number): void => {
        progress = total > 0 ? Math.min(1, Math.max(0, done / total)) : 0
      }
      await handOver(job, await handle(job, { signal, onProgress }), signal)
    } catch (error) {
      if (lost.signal.aborted) return
      if (error instanceof TaskFailedError) {
        await queue.complete(job, { error: { code: error.code, message: error.message } })
        return
      }
      const reason = error instanceof Error ? error.message : String(error)
      if (stop.signal.aborted) return await queue.giveBack(job, null)
      onError('a job is given back', error)
      if (!(error instanceof UnfitError)) return await queue.fail(job, reason)
      unfit.set(job.id, performance.now())
      await queue.giveBack(job, reason)
    } finally {
      clearInterval(renewing)
    }
  }

  const loop = async (
    name: string,
    handle: (job: TakenJob, work: WorkOptions) => Promise<JsonObject>,
  ): Promise<void> => {
    const pause = (ms: number): Promise<void> =>
      sleep(ms, undefined, { signal: stop.signal }).catch(() => undefined)
    let awayMs = IDLE_MS
    while (!stop.signal.aborted) {
      try {
        const job = await queue.take(name, leftToOthers())
        awayMs = IDLE_MS
        if (job === null) await pause(IDLE_MS)
        else await workOn(job, handle)
        if (job !== null && name === RUNS_QUEUE) await forgetTrials(job)
      } catch (error) {
        // The database may be unreachable for a while.
        onError('could not work on a job', error)
        await pause(awayMs)
        awayMs = Math.min(2 * awayMs, AWAY_MS_MAX)
      }
    }
  }
  const loops = Promise.all([
    loop(RUNS_QUEUE, onRun),
    ...Array.from({ length: width }, () => loop(TRIALS_QUEUE, onTrial)),
  ])
  return {
    close: async (): Promise<void> => {
      stop.abort(new LeftError('the worker stops'))
      await loops
      await processes.close()
    },
  }
}

interface WorkOptions {
  readonly signal: AbortSignal
  readonly onProgress: (done: number, total: number) => void
}

const withSettings = (processes: RunProcesses, { settings }: JobTerms): TaskRunner => ({
  width: processes.width,
  run: (task, options) => processes.run(task, { ...options, settings }),
  close: () => Promise.resolve(),
})

const HASHES_KEPT_MS = 30_000
const HASHES_MAX = 100

type FindHash = () => Promise<string | null>

/** Cache of hashes: a sweep needs the hash of the same bars a thousand times. */
class HashCache {
  readonly #known = new Map<string, { readonly atMs: number; readonly hash: string | null }>()

  get(task: BacktestTask, find: FindHash): Promise<string | null> {
    const known = this.#known.get(keyOf(task))
    return known !== undefined && performance.now() - known.atMs < HASHES_KEPT_MS
      ? Promise.resolve(known.hash)
      : this.find(task, find)
  }

  async find(task: BacktestTask, find: FindHash): Promise<string | null> {
    const hash = await find()
    if (this.#known.size >= HASHES_MAX) this.#known.clear()
    this.#known.set(keyOf(task), { atMs: performance.now(), hash })
    return hash
  }
}

const keyOf = ({ strategy, data, isFromLog }: BacktestTask): string =>
  JSON.stringify([strategy, data, isFromLog])

/** This worker cannot run the job. Another worker may be able to. */
class UnfitError extends Error {
  override readonly name = 'UnfitError'
}

/** This worker has stopped working on the job. Another worker may continue. */
class LeftError extends Error {
  override readonly name = 'LeftError'
}

/**
 * Runs of a sweep as jobs of their own. Their ids derive from what they compute, so a worker that resumes the sweep
 * finds them.
 */
const trialRunner = (
  queue: JobQueue,
  { id: runId, data: terms }: TakenJob,
  trials: Set<string>,
): TaskRunner => ({
  width: TRIALS_AT_ONCE,
  run: async (task, { signal }) => {
    const { settings, data, version } = terms
    const trial = JSON.parse(JSON.stringify({ task, settings, data, version })) as JsonObject
    const id = uuidOf(sha256Hex(`${runId} ${canonicalJson(trial)}`))
    trials.add(id)
    const before = await queue.get(TRIALS_QUEUE, id)
    // Left by a failed attempt at the sweep. This attempt needs the run.
    if (before?.state === 'cancelled') await queue.remove(TRIALS_QUEUE, [id])
    await queue.send(TRIALS_QUEUE, id, trial)
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
  },
  close: () => Promise.resolve(),
})

/** True if another worker continues the sweep, and needs its runs. */
const isTakenUpAgain = async (queue: JobQueue, runId: string, { reason }: AbortSignal): Promise<boolean> =>
  reason instanceof LeftError && isOpen(queue, runId)

const isOpen = async (queue: JobQueue, runId: string): Promise<boolean> => {
  const run = await queue.get(RUNS_QUEUE, runId)
  return run?.state === 'queued' || run?.state === 'running'
}

const uuidOf = (hex: string): string =>
  [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-')
