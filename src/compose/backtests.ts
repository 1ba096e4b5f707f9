import { join } from 'node:path'
import { LocalRuns } from '../backtest/runs/local-runs.ts'
import { RunRefusedError, type BacktestRuns } from '../backtest/runs/runs.ts'
import type { BacktestsOptions } from './queued-backtests.ts'
import { runFiles, runsInMemory } from './run-files.ts'
import { RunProcesses } from './run-processes.ts'
import { runSettingsOf } from './run-settings.ts'

/** The runs of this service, in processes of their own. */
export const openBacktests = async (options: BacktestsOptions): Promise<BacktestRuns> => {
  const { environment, configuration, logger, inMemory } = options
  const { home, version, clock } = environment
  if (!inMemory && configuration().store.url !== '') {
    const { openQueuedBacktests } = await import('./queued-backtests.ts')
    return openQueuedBacktests(options)
  }
  const onError = (what: string, error: unknown): void => logger.error(what, { error })
  const processes = new RunProcesses({
    home,
    version,
    width: 1,
    settings: () => runSettingsOf(configuration()),
    inMemory,
    isService: true,
  })
  // Loaded with the first run: a service without runs starts without it.
  const work = async () => (await import('./run-work.ts')).runWork({ home, version, configuration })
  const runs = await LocalRuns.open({
    store: inMemory ? runsInMemory() : runFiles(join(home, 'data', 'backtests'), onError),
    clock,
    settings: () => configuration().backtests,
    check: async (kind, request) => {
      if (inMemory && request['recorded'] === true) {
        throw new RunRefusedError('the log of this service is in memory: there is nothing recorded to read')
      }
      await (await work()).check(kind, request)
    },
    work: async (run, taskOptions) => (await work()).run(run, processes, taskOptions),
    onError,
  })
  return {
    submit: (kind, request, by) => runs.submit(kind, request, by),
    list: (kind) => runs.list(kind),
    get: (id) => runs.get(id),
    cancel: (id) => runs.cancel(id),
    onChange: (listener) => runs.onChange(listener),
    close: async () => {
      await runs.close()
      await processes.close()
    },
  }
}
