import { TaskFailedError } from '../backtest/sweep/task.ts'
import type { BacktestReport } from '../backtest/report.ts'
import type { Configuration } from '../core/config/schema.ts'
import type { BacktestRequest } from '../surfaces/cli/dependencies.ts'
import { Failure, isFailureCode } from '../surfaces/cli/failure.ts'
import { runBacktest, type BacktestFolders } from './backtest.ts'
import { RunProcesses } from './run-processes.ts'
import { runSettingsOf } from './run-settings.ts'
import { strategyCodeNamed } from './strategies.ts'

/**
 * Runs a backtest for the command line. A strategy in a file of the user runs in a confined process, which this one
 * watches; everything else runs here. Beside the log, which only this process may open, such a strategy gets a process of
 * its own and a message for each bar.
 */
export const backtestCommand = async (
  configuration: Configuration,
  request: BacktestRequest,
  place: BacktestFolders,
): Promise<BacktestReport> => {
  const isInside = !request.isFromLog && (await strategyCodeNamed(request.strategy, place.home)) !== null
  if (!isInside) return runBacktest(configuration, request, place)
  const { onError, onProgress, onEvents, parameters = {}, trials, ...task } = request
  const settings = runSettingsOf(configuration)
  const { home, version } = place
  const processes = new RunProcesses({ home, version, width: 1, settings: () => settings })
  try {
    const { signal } = new AbortController()
    const run = { task: { ...task, parameters }, settings, trials }
    const { report, leftOut } = await processes.runWhole(run, { signal, onProgress, onEvents })
    leftOut.forEach(onError)
    return report
  } catch (error) {
    throw error instanceof TaskFailedError ? failureOf(error) : error
  } finally {
    await processes.close()
  }
}

const failureOf = ({ code, message, advice }: TaskFailedError): Error =>
  isFailureCode(code) && code !== 'internal.error'
    ? new Failure(code, message, advice === null ? {} : { advice })
    : new Error(message)
