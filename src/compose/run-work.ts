import { RunRefusedError, type Run, type RunKind, type RunResult } from '../backtest/runs/runs.ts'
import type { SweepRequest } from '../backtest/sweep/plan.ts'
import { countOf, SpaceError } from '../backtest/sweep/space.ts'
import {
  TaskFailedError,
  type BacktestTask,
  type TaskOptions,
  type TaskRunner,
} from '../backtest/sweep/task.ts'
import type { Configuration } from '../core/config/schema.ts'
import type { JsonObject } from '../core/shared/json.ts'
import { backtestRequest, sweepRequest, sweepRequestOf, taskOf } from '../surfaces/backtest-wire.ts'
import { Failure } from '../surfaces/cli/failure.ts'
import { refuseInvented } from './backtest.ts'
import { taskDataOf } from './run-range.ts'
import { tryStrategy } from './strategies.ts'
import { prepareSweep } from './sweep.ts'

/** Limit for a sweep of the service, because its result is a single answer. */
const SETS_MAX = 10_000

/** Refuses too many sets before they are created and checked one by one, which would block the service. */
const refuseTooMany = ({ space, random }: SweepRequest): void => {
  const count = Math.min(countOf(space), random ?? Infinity)
  if (count > SETS_MAX)
    throw new RunRefusedError(`${count} parameter sets are too many here: at most ${SETS_MAX}; see svc sweep`)
}

interface WorkPlace {
  readonly home: string
  readonly version: string
  readonly configuration: () => Configuration
}

/** Checks requests for runs, and runs them. */
export const runWork = ({ home, version, configuration }: WorkPlace) => ({
  check: async (kind: RunKind, request: JsonObject): Promise<void> => {
    try {
      const current = configuration()
      if (kind === 'sweep') {
        const asked = sweepRequestOf(sweepRequest.parse(request))
        refuseTooMany(asked)
        await prepareSweep(asked, { home, version, configuration: current })
        return
      }
      const task = taskOf(backtestRequest.parse(request))
      await tryStrategy(task.strategy, task.parameters, home)
      if (task.symbol !== undefined) refuseInvented(current, task, task.symbol)
      await taskDataOf(task, current, home)
    } catch (error) {
      const isRefusal = error instanceof Failure || error instanceof SpaceError
      throw isRefusal ? new RunRefusedError(error.message) : error
    }
  },
  /** The task of a request, without its parameters: it determines the data that is read. */
  baseTask: (kind: RunKind, request: JsonObject): BacktestTask =>
    kind === 'sweep'
      ? sweepRequestOf(sweepRequest.parse(request)).base
      : taskOf(backtestRequest.parse(request)),
  run: async (
    { kind, request }: Pick<Run, 'kind' | 'request'>,
    runner: TaskRunner,
    { signal, onProgress }: TaskOptions,
  ): Promise<RunResult> => {
    const current = configuration()
    try {
      if (kind === 'backtest') {
        const task = taskOf(backtestRequest.parse(request))
        const { range } = await taskDataOf(task, current, home)
        // With both ends known, the run can report its progress.
        return await runner.run({ ...task, ...range }, { signal, onProgress })
      }
      const asked = sweepRequestOf(sweepRequest.parse(request))
      const sweep = await prepareSweep(asked, { home, version, configuration: current })
      return await sweep.run({ runner, signal, startsAnew: false, heat: null, onProgress })
    } catch (error) {
      throw error instanceof Failure ? new TaskFailedError(error.code, error.message) : error
    }
  },
})
