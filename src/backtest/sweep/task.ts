import type { SeriesSelector } from '../../core/market/history/select.ts'
import type { BacktestReport } from '../report.ts'
import type { Parameters, StrategyName } from '../strategies.ts'

/** A run as plain data, ready to be sent to another process. */
export interface BacktestTask {
  readonly strategy: StrategyName
  readonly parameters: Parameters
  /** Runs on this symbol alone. Default: the whole universe. */
  readonly symbol?: string | undefined
  readonly fromMs: number | null
  readonly toMs: number | null
  readonly seed?: number | undefined
  /** Recorded bars of this home. Default: the bars of the settings, as for a backtest. */
  readonly data: readonly SeriesSelector[]
  readonly isFromLog: boolean
  readonly resetsDaily: boolean
  /** Bars as CSV or JSON lines, instead of the bars of the settings. Only the command line names files. */
  readonly file?: string | undefined
  /** Replaces the costs of the settings. */
  readonly costs?: BacktestCosts | undefined
}

/** Costs in basis points. */
export interface BacktestCosts {
  readonly feeBps?: number | undefined
  readonly slippageBps?: number | undefined
  /** Funding per 8 hours. */
  readonly fundingBps?: number | 'off' | undefined
}

/** A report, and the notes on bars that were left out. */
export type TaskReport = BacktestReport & { readonly left_out: readonly string[] }

export interface TaskOptions {
  readonly signal: AbortSignal
  readonly onProgress: (done: number, total: number) => void
}

/** Runs backtests outside the calling thread, so that the caller is never blocked. */
export interface TaskRunner {
  /** Number of runs at once. */
  readonly width: number
  /** Rejects with `TaskFailedError` if the task cannot be run, and with the signal's reason after an abort. */
  run(task: BacktestTask, options: TaskOptions): Promise<TaskReport>
  close(): Promise<void>
}

/** The run cannot be carried out as requested. Another attempt would fail alike. */
export class TaskFailedError extends Error {
  override readonly name = 'TaskFailedError'
  /** Error code in the form of commands and the API, such as `data.not_found`. */
  readonly code: string
  /** Next step for the user, as a sentence. */
  readonly advice: string | null
  constructor(code: string, message: string, advice: string | null = null) {
    super(message)
    this.code = code
    this.advice = advice
  }
}
