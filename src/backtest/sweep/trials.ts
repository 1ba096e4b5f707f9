import { canonicalJson } from '../../core/log/canonical-json.ts'
import { r9 } from '../../core/shared/numbers.ts'
import type { Parameters } from '../strategies.ts'
import { dailyReturnsOf, shapeOf } from '../statistics.ts'
import { sharpened } from './correction.ts'
import type { Window } from './splits.ts'
import type { BacktestTask, TaskReport, TaskRunner } from './task.ts'

/** One run of a sweep: parameters and time window. A null window covers all the time there is. */
export interface Trial {
  readonly parameters: Parameters
  readonly window: Window | null
  /** True if its daily returns are needed. */
  readonly keepsReturns?: boolean
}

/** The part of a run's result that a sweep keeps, with the names of the wire. */
export interface TrialResult {
  readonly parameters: Parameters
  readonly from: string | null
  readonly to: string | null
  readonly days: number
  readonly trades: number
  readonly total_return: number
  readonly sharpe: number
  readonly max_drawdown: number
  readonly p_value: number
  /** Sharpe ratio of the daily returns. */
  readonly daily_sharpe: number
  readonly skewness: number
  readonly kurtosis: number
  /** Number of times that the kill switch stopped entries. */
  readonly kill_switch_stops: number
  /** Present only if tests are put together from the returns. */
  readonly returns?: readonly number[]
}

export interface TrialsDependencies {
  readonly runner: TaskRunner
  /** The task without parameters and time. */
  readonly base: BacktestTask
  /** Results of an earlier run of the same sweep, by `keyOf`. */
  readonly known: ReadonlyMap<string, TrialResult>
  /** Receives a new result, and stores it before the sweep goes on. */
  readonly onResult: (key: string, result: TrialResult) => Promise<void>
  /** Receives the number of finished runs, in fractions of a run. `reused` of them were known. */
  readonly onProgress: (done: number, reused: number) => void
  readonly signal: AbortSignal
}

const keyOf = ({ parameters, window, keepsReturns = false }: Trial): string =>
  canonicalJson({
    parameters,
    from: window?.fromMs ?? null,
    to: window?.toMs ?? null,
    ...(keepsReturns ? { returns: true } : {}),
  })

/** Runs trials on all processes of the runner. The results do not depend on the number of processes. */
export class Trials {
  readonly #dependencies: TrialsDependencies
  readonly #results: Map<string, TrialResult>
  #done = 0
  #reused = 0
  #stopped = 0

  constructor(dependencies: TrialsDependencies) {
    this.#dependencies = dependencies
    this.#results = new Map(dependencies.known)
  }

  /** Number of runs in which the kill switch stopped entries. */
  get stopped(): number {
    return this.#stopped
  }

  /** Results in the order of the trials. */
  async run(trials: readonly Trial[]): Promise<readonly TrialResult[]> {
    const { runner, signal, onProgress } = this.#dependencies
    const stop = new AbortController()
    const stopped = AbortSignal.any([signal, stop.signal])
    const waiting = trials.filter((trial) => !this.#results.has(keyOf(trial)))
    this.#done += trials.length - waiting.length
    this.#reused += trials.length - waiting.length
    onProgress(this.#done, this.#reused)
    const parts = new Map<Trial, number>()
    const report = (): void => {
      const running = [...parts.values()].reduce((sum, part) => sum + part, 0)
      onProgress(this.#done + running, this.#reused)
    }
    const next = waiting.values()
    const work = async (): Promise<void> => {
      for (const trial of next) {
        await this.#runOne(trial, stopped, (done, total) => {
          parts.set(trial, total > 0 ? Math.min(1, Math.max(0, done / total)) : 0)
          report()
        })
        parts.delete(trial)
        this.#done += 1
        report()
      }
    }
    try {
      await Promise.all(Array.from({ length: Math.min(runner.width, waiting.length) }, work))
    } finally {
      // After a failure the other runs are aborted. Finished results are kept.
      stop.abort(new Error('another run of the sweep failed'))
    }
    const results = trials.map((trial) => {
      const result = this.#results.get(keyOf(trial))
      if (result === undefined) throw new Error(`no result of ${keyOf(trial)}`)
      return result
    })
    this.#stopped += results.filter(({ kill_switch_stops: stops }) => stops > 0).length
    return results
  }

  async #runOne(
    trial: Trial,
    signal: AbortSignal,
    onProgress: (done: number, total: number) => void,
  ): Promise<void> {
    const { runner, base, onResult } = this.#dependencies
    const { parameters, window, keepsReturns = false } = trial
    const task = { ...base, parameters, ...window }
    const result = resultOf(parameters, await runner.run(task, { signal, onProgress }), keepsReturns)
    signal.throwIfAborted()
    await onResult(keyOf(trial), result)
    this.#results.set(keyOf(trial), result)
  }
}

const resultOf = (parameters: Parameters, report: TaskReport, keepsReturns: boolean): TrialResult => {
  const returns = dailyReturnsOf({ start: report.start_equity_usd, days: report.equity_usd_by_day })
  const { sharpe, skewness, kurtosis } = shapeOf(returns)
  return {
    parameters,
    from: report.from,
    to: report.to,
    days: report.days,
    trades: report.trades,
    total_return: report.total_return,
    sharpe: report.ranking.sharpe,
    max_drawdown: report.max_drawdown,
    p_value: sharpened(report.ranking.p_value, returns),
    daily_sharpe: r9(sharpe),
    skewness: r9(skewness),
    kurtosis: r9(kurtosis),
    kill_switch_stops: report.kill_switch.stops,
    ...(keepsReturns ? { returns: returns.map(r9) } : {}),
  }
}
