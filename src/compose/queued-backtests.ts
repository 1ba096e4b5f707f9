import { QueuedRuns, RUNS_QUEUE } from '../backtest/runs/queued-runs.ts'
import type { BacktestRuns } from '../backtest/runs/runs.ts'
import type { Configuration } from '../core/config/schema.ts'
import type { JsonObject } from '../core/shared/json.ts'
import type { JobQueue } from '../ports/job-queue.ts'
import type { Logger } from '../ports/logger.ts'
import type { WorkerOptions } from '../surfaces/cli/dependencies.ts'
import { Failure } from '../surfaces/cli/failure.ts'
import type { Environment } from './environment.ts'
import { jobDataOf, LEASE_SECONDS, openQueueWorker, TRIALS_QUEUE, type JobTerms } from './queue-worker.ts'
import { runSettingsOf } from './run-settings.ts'
import { runWork } from './run-work.ts'
import { urlWithPassword } from './store.ts'

export interface BacktestsOptions {
  readonly environment: Environment
  readonly configuration: () => Configuration
  readonly logger: Logger
  /** Nothing is written to the home, and there is no log to read. */
  readonly inMemory: boolean
  /** Whether this process works on what is in a queue, too. */
  readonly isWorking?: boolean
}

/** The queue in the database of the log. */
const openQueue = async (
  environment: Environment,
  { store }: Configuration,
  onError: (error: Error) => void,
): Promise<JobQueue> => {
  // The queue is large, and only a store in PostgreSQL has one.
  const { openPostgresJobQueue } = await import('../adapters/storage/postgres/postgres-job-queue.ts')
  return openPostgresJobQueue({
    url: await urlWithPassword(store.url, environment),
    queues: [RUNS_QUEUE, TRIALS_QUEUE],
    leaseSeconds: LEASE_SECONDS,
    onError,
  })
}

/** Runs as jobs for workers, of whom this process is none. */
export const openSharedRuns = async ({ environment, configuration, logger }: BacktestsOptions) => {
  const { home, version, clock } = environment
  const onError = (what: string, error: unknown): void => logger.error(what, { error })
  const queue = await openQueue(environment, configuration(), (error) =>
    onError('the job queue failed', error),
  )
  const runs = new QueuedRuns({
    queue,
    clock,
    settings: () => configuration().backtests,
    prepare: async (kind, request) => {
      const current = configuration()
      const work = runWork({ home, version, configuration: () => current })
      await work.check(kind, request)
      const data = await jobDataOf(work.baseTask(kind, request), current, home)
      const terms: JobTerms = { settings: runSettingsOf(current), data, version }
      return terms as unknown as JsonObject
    },
    onError,
  })
  return { queue, runs, onError }
}

/** What waits in the queue is looked for so long after the start: by then the service answers. */
const START_MS = 5000

/**
 * The same with a worker in this process, so that a service without others is not left alone with its queue. It is
 * opened when it is first needed: a service that cannot open it trades all the same.
 */
export const openQueuedBacktests = (options: BacktestsOptions): BacktestRuns => {
  const { environment, configuration, logger, isWorking = true } = options
  const { home, version } = environment
  const start = async () => {
    const { queue, runs, onError } = await openSharedRuns(options)
    const worker = isWorking
      ? openQueueWorker({ queue, home, version, configuration, width: 1, onError })
      : null
    return { queue, runs, worker }
  }
  let opened: ReturnType<typeof start> | null = null
  const open = (): ReturnType<typeof start> => {
    opened ??= start().catch((error: unknown) => {
      opened = null
      throw error
    })
    return opened
  }
  const report = (error: unknown): void => logger.error('could not open the queue of backtests', { error })
  const timer = isWorking ? setTimeout(() => void open().catch(report), START_MS).unref() : null
  return {
    submit: async (kind, request, by) => (await open()).runs.submit(kind, request, by),
    list: async (kind) => (await open()).runs.list(kind),
    get: async (id) => (await open()).runs.get(id),
    cancel: async (id) => (await open()).runs.cancel(id),
    onChange: (listener) => {
      const listening = open().then(({ runs }) => runs.onChange(listener))
      listening.catch(report)
      return () => void listening.then((stop) => stop()).catch(() => undefined)
    },
    close: async () => {
      if (timer !== null) clearTimeout(timer)
      const running = await (opened ?? Promise.resolve(null)).catch(() => null)
      if (running === null) return
      await running.runs.close()
      await running.worker?.close()
      await running.queue.close()
    },
  }
}

export interface WorkerPlace extends WorkerOptions {
  readonly environment: Environment
  readonly configuration: Configuration
}

/** `svc worker`: works on jobs until it is stopped. */
export const openWorker = async ({ environment, configuration, width, onError }: WorkerPlace) => {
  if (configuration.store.url === '') {
    throw new Failure(
      'request.invalid',
      'workers share a queue in PostgreSQL, and this home has its log in a file',
      {
        advice: 'Set store.url to the database of the service, or run "svc sweep" here.',
      },
    )
  }
  const { home, version } = environment
  const report = (what: string, error: unknown): void =>
    onError(`${what}: ${error instanceof Error ? error.message : String(error)}`)
  const queue = await openQueue(environment, configuration, (error) => report('the job queue failed', error))
  const worker = openQueueWorker({
    queue,
    home,
    version,
    configuration: () => configuration,
    width,
    onError: report,
  })
  return {
    close: async (): Promise<void> => {
      await worker.close()
      await queue.close()
    },
  }
}
