import { JobWorker, UnfitError, type JobHandler } from '../backtest/runs/job-worker.ts'
import { outputOf, RUNS_QUEUE } from '../backtest/runs/queued-runs.ts'
import type { RunKind } from '../backtest/runs/runs.ts'
import { TrialJobs, TRIALS_QUEUE } from '../backtest/runs/trial-jobs.ts'
import type { BacktestTask, TaskReport, TaskRunner } from '../backtest/sweep/task.ts'
import type { Configuration } from '../core/config/schema.ts'
import type { Json, JsonObject } from '../core/shared/json.ts'
import type { JobQueue } from '../ports/job-queue.ts'
import { Failure } from '../surfaces/cli/failure.ts'
import { RunProcesses } from './run-processes.ts'
import { codeHash } from './code-hash.ts'
import { runSettingsOf, type RunSettings } from './run-settings.ts'
import { taskDataOf } from './run-range.ts'
import { runWork } from './run-work.ts'

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
  const processes = new RunProcesses({
    home,
    version,
    width,
    settings: () => runSettingsOf(configuration()),
    isService: true,
  })
  const worker = new JobWorker(queue, onError)
  const trials = new TrialJobs(queue)
  const checkTerms = termsCheck(options)
  const onRun: JobHandler = async (job, work) => {
    const { kind, request } = job.data as unknown as { readonly kind: RunKind; readonly request: JsonObject }
    const terms = job.data as unknown as JobTerms
    const merged: Configuration = { ...configuration(), ...terms.settings }
    const { baseTask, run } = runWork({ home, version, configuration: () => merged })
    await checkTerms(terms, baseTask(kind, request))
    const runner = kind === 'sweep' ? trials.runnerFor(job) : withSettings(processes, terms)
    return outputOf(await run({ kind, request }, runner, work))
  }
  const onTrial: JobHandler = async (job, work) => {
    const { task, ...terms } = job.data as unknown as JobTerms & { readonly task: BacktestTask }
    await checkTerms(terms, task)
    const report = await withSettings(processes, terms).run(task, work)
    // Trades and charts are most of a report, and a sweep of thousands of runs reads none of them.
    const result: TaskReport = { ...report, closed_trades: [], chart: { equity: [], candles: {} } }
    return { result: result as unknown as Json }
  }
  worker.start(RUNS_QUEUE, onRun, (job) => trials.forget(job))
  for (let index = 0; index < width; index += 1) worker.start(TRIALS_QUEUE, onTrial)
  return {
    close: async (): Promise<void> => {
      await worker.close()
      await processes.close()
    },
  }
}

/** Rejects with `UnfitError` for a job that this worker would compute differently: its version or its files differ. */
const termsCheck = ({ home, version, configuration }: QueueWorkerOptions) => {
  const known = new HashCache()
  return async (terms: JobTerms, task: BacktestTask): Promise<void> => {
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
