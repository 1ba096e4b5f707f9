import { LEASE_SECONDS } from '../backtest/runs/job-worker.ts'
import { QueuedRuns } from '../backtest/runs/queued-runs.ts'
import type { BacktestRuns } from '../backtest/runs/runs.ts'
import type { Configuration } from '../core/config/schema.ts'
import type { JsonObject } from '../core/shared/json.ts'
import type { JobQueue } from '../ports/job-queue.ts'
import type { Logger } from '../ports/logger.ts'
import type { WorkerOptions } from '../surfaces/cli/dependencies.ts'
import { Failure } from '../surfaces/cli/failure.ts'
import type { Environment } from './environment.ts'
import { jobDataOf, openQueueWorker, type JobTerms } from './queue-worker.ts'
import { runSettingsOf } from './run-settings.ts'
import { runWork } from './run-work.ts'
import { urlWithPassword } from './store.ts'

export interface BacktestsOptions {
  readonly environment: Environment
  readonly configuration: () => Configuration
  readonly logger: Logger
  /** True if nothing is written to the home, and there is no log to read. */
  readonly inMemory: boolean
  /** True if this process also runs jobs of a queue. */
  readonly isWorking?: boolean
}

/** Opens the queue in the database of the log. */
const openQueue = async (
  environment: Environment,
  { store }: Configuration,
  onError: (error: Error) => void,
): Promise<JobQueue> => {
  // Loaded on demand: the module is large, and only a store in PostgreSQL has a queue.
  const { openPostgresJobQueue } = await import('../adapters/storage/postgres/postgres-job-queue.ts')
  return openPostgresJobQueue({
    url: await urlWithPassword(store.url, environment),
    leaseSeconds: LEASE_SECONDS,
    onError,
  })
}

/** Opens runs as jobs for workers. This process is not one of the workers. */
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

/** Delay before waiting jobs are looked for. By then the service answers requests. */
const START_MS = 5000

/**
 * Like `openSharedRuns`, with a worker in this process, so that a service without other workers can run its queue. The
 * queue is opened on first use: a service that cannot open it still trades.
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

/** `svc worker`: runs jobs until it is stopped. */
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
