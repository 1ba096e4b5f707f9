import { appendFile, mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createDraws } from '../adapters/feeds/simulated/draws.ts'
import { readTextFile } from '../adapters/files.ts'
import { StrategyError } from '../core/strategies/strategy.ts'
import { documentOf, type SweepDocument } from '../backtest/sweep/document.ts'
import { planOf, type SweepRequest } from '../backtest/sweep/plan.ts'
import { SpaceError } from '../backtest/sweep/space.ts'
import { SplitError } from '../backtest/sweep/splits.ts'
import { runsOf, runSweep, type SweepPlan } from '../backtest/sweep/sweep.ts'
import { TaskFailedError, type TaskRunner } from '../backtest/sweep/task.ts'
import { Trials, type TrialResult } from '../backtest/sweep/trials.ts'
import type { Configuration } from '../core/config/schema.ts'
import { canonicalJson } from '../core/log/canonical-json.ts'
import type { Json } from '../core/shared/json.ts'
import { sha256Hex } from '../engine/sha256.ts'
import type { SweepCommand, SweepOptions } from '../surfaces/cli/dependencies.ts'
import { Failure, isFailureCode } from '../surfaces/cli/failure.ts'
import { refuseInvented } from './backtest.ts'
import { keepInUse, removeOldSweeps } from './kept-sweeps.ts'
import { RunProcesses } from './run-processes.ts'
import { runSettingsOf } from './run-settings.ts'
import { taskDataOf } from './run-range.ts'
import { takenSets, tryStrategy } from './strategies.ts'

export interface SweepPlace {
  readonly home: string
  readonly version: string
  readonly configuration: Configuration
}

/** A sweep that was checked and can start, or resume where it stopped. */
export interface PreparedSweep extends Pick<SweepCommand, 'trials' | 'runs' | 'file'> {
  readonly run: (work: SweepWork) => Promise<SweepDocument>
}

export interface SweepWork extends SweepOptions {
  readonly runner: TaskRunner
  readonly signal: AbortSignal
}

/** Throws a `Failure` for a request that cannot be carried out. */
export const prepareSweep = async (request: SweepRequest, place: SweepPlace): Promise<PreparedSweep> => {
  const { home, version, configuration } = place
  const seed = request.base.seed ?? configuration.market.seed
  const base = { ...request.base, seed }
  if (base.symbol !== undefined) refuseInvented(configuration, base, base.symbol)
  const { range, hash } = await taskDataOf(base, configuration, home)
  const wanted = planned(() => {
    const draws = createDraws(seed, 0, 'sweep:combinations', sha256Hex)
    return planOf({ ...request, base }, range, () => draws.uniform())
  })
  const { taken, leftOut } = await takenSets(base.strategy, wanted.combinations, home)
  const plan = { ...wanted, combinations: taken }
  await tryStrategy(base.strategy, taken[0] ?? {}, home)
  const runs = runsOf(plan)
  if (runs > RUNS_MAX) throw new Failure('request.invalid', `${runs} runs are too many: at most ${RUNS_MAX}`)
  // Everything that can change a result: with other bars, other settings or another release it is another sweep.
  const identity = { base, data: hash, settings: runSettingsOf(configuration), version, format: FORMAT }
  const name = sha256Hex(canonicalJson(JSON.parse(JSON.stringify(identity)) as Json)).slice(0, NAME_LENGTH)
  const file = join(home, 'data', 'sweeps', `${base.strategy}-${name}.jsonl`)
  return {
    trials: taken.length,
    runs,
    file,
    run: async ({ runner, signal, startsAnew, heat, onProgress }) => {
      // Without a hash the data may have changed, so stored results are discarded.
      if (startsAnew || hash === null) await rm(file, { force: true })
      await mkdir(dirname(file), { recursive: true })
      const content = (await readTextFile(file)) ?? ''
      // A line that a crash cut off stays. The next result starts on a new line.
      if (content !== '' && !content.endsWith('\n')) await appendFile(file, '\n')
      const endUse = await keepInUse(file)
      await removeOldSweeps(dirname(file), configuration.backtests)
      const trials = new Trials({
        runner,
        base,
        known: resultsIn(content),
        onResult: (key, result) => appendFile(file, `${JSON.stringify({ key, result })}\n`),
        onProgress: (done, reused) => onProgress(done, runs, reused),
        signal,
      })
      const draws = createDraws(seed, 0, 'sweep:signs', sha256Hex)
      const outcome = await runSweep(plan, trials, () => draws.uniform())
        .catch(explain)
        .finally(endUse)
      const { space, random } = request
      const { stopped: stoppedRuns } = trials
      const isRandom = random !== null
      return documentOf({ base, space, plan, isRandom, runs, stoppedRuns, leftOut, heat }, outcome)
    },
  }
}

/** Runs a sweep for the command line, in processes of its own. */
export const sweepCommand = async (request: SweepRequest, place: SweepPlace): Promise<SweepCommand> => {
  const { home, version, configuration } = place
  const sweep = await prepareSweep(request, place)
  return {
    ...sweep,
    run: async ({ workers, ...options }) => {
      const settings = runSettingsOf(configuration)
      const runner = new RunProcesses({ home, version, width: workers, settings: () => settings })
      try {
        return await sweep.run({ ...options, runner, signal: new AbortController().signal })
      } finally {
        await runner.close()
      }
    },
  }
}

/** Format of the stored results. Results in another format are not read. */
const FORMAT = 2
const NAME_LENGTH = 16
const RUNS_MAX = 1_000_000

const planned = (plan: () => SweepPlan): SweepPlan => {
  try {
    return plan()
  } catch (error) {
    const isExpected =
      error instanceof SpaceError || error instanceof SplitError || error instanceof StrategyError
    throw isExpected ? new Failure('request.invalid', error.message) : error
  }
}

const explain = (error: unknown): never => {
  if (!(error instanceof TaskFailedError)) throw error
  throw new Failure(isFailureCode(error.code) ? error.code : 'internal.error', error.message)
}

const resultsIn = (content: string): ReadonlyMap<string, TrialResult> => {
  const results = new Map<string, TrialResult>()
  for (const line of content.split('\n')) {
    try {
      const { key, result } = JSON.parse(line) as { readonly key: string; readonly result: TrialResult }
      results.set(key, result)
    } catch {
      // The line is empty, or was cut off by a crash. Its run is repeated.
    }
  }
  return results
}
