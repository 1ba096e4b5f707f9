import { basename, resolve } from 'node:path'
import { beginRun, createBarMemory } from '../adapters/history/bar-files/bar-memory.ts'
import { openConfigurationStore } from '../adapters/platform/config-file/configuration-store.ts'
import type { EnvironmentVariables } from '../core/config/environment.ts'
import type { Configuration } from '../core/config/schema.ts'
import { DEFAULT_CONFIGURATION } from '../core/config/validate.ts'
import type { TaskReport } from '../backtest/sweep/task.ts'
import { Failure } from '../surfaces/cli/failure.ts'
import { runBacktest } from './backtest.ts'
import { environmentOf } from './environment.ts'
import type { RunAnswer, RunOrder } from './run-processes.ts'
import { openSession, storeExists } from './store.ts'

/** Code of a process that runs backtests for `RunProcesses`, one at a time, and ends with its parent. */

const PROGRESS_MS = 200

/** Number of calls between two readings of the clock. Progress is reported with every bar. */
const PROGRESS_CALLS = 64

/** Cache for the bars that the runs of a sweep share: half a year of minutes, about 40 MB. */
const memory = createBarMemory(250_000)

const answer = (message: RunAnswer): void => {
  // If the parent is gone, no reader needs the answer, and this process ends.
  process.send?.(message, undefined, undefined, (error) => {
    if (error !== null) process.exit()
  })
}

const reportOf = async ({ home, version, settings, task, variables }: RunOrder): Promise<TaskReport> => {
  // Only a run from the log needs more than it is given: where the log is, and how to open it.
  const configuration: Configuration = {
    ...(task.isFromLog ? await configurationOf(home, variables) : DEFAULT_CONFIGURATION),
    ...settings,
  }
  const leftOut: string[] = []
  let sentMs = 0
  let calls = 0
  beginRun(memory)
  await using session =
    task.isFromLog && storeExists(home, configuration)
      ? await openSession(environmentOf(home, variables, version), configuration)
      : null
  const request = {
    ...task,
    onError: (message: string) => {
      leftOut.push(withoutPlaces(message, { home, settings }))
    },
    onProgress: (done: number, total: number) => {
      calls += 1
      if (calls % PROGRESS_CALLS !== 0 || performance.now() - sentMs < PROGRESS_MS) return
      sentMs = performance.now()
      answer({ kind: 'progress', done, total })
    },
  }
  const report = await runBacktest(configuration, request, {
    home,
    version,
    log: session?.log ?? null,
    memory,
  })
  if (report.bars === 0) {
    const reason = ['no bars to trade on: the first 200 analysis bars only warm up', ...leftOut].join('; ')
    throw new Failure('backtest.no_bars', reason)
  }
  return { ...report, left_out: leftOut }
}

const configurationOf = async (home: string, variables: EnvironmentVariables): Promise<Configuration> => {
  const opened = await openConfigurationStore({ home, env: variables })
  if (opened.status === 'invalid') throw new Failure('config.invalid', opened.problems.join('\n'))
  return opened.store.current()
}

/** Callers of the service need not know where it lives and where it reads. */
const withoutPlaces = (
  message: string,
  { home, settings: { market } }: Pick<RunOrder, 'home' | 'settings'>,
): string => {
  const file = basename(market.file)
  const shown = file === '' ? message : message.replaceAll(resolve(home, market.file), file)
  return shown.replaceAll(home, 'the home')
}

process.on('message', (order: RunOrder) => {
  reportOf(order).then(
    (report) => answer({ kind: 'done', report }),
    (error: unknown) => {
      const code = error instanceof Failure ? error.code : 'internal.error'
      const message = withoutPlaces(error instanceof Error ? error.message : String(error), order)
      answer({ kind: 'failed', code, message })
    },
  )
})
process.on('disconnect', () => process.exit())
