import type { SeriesSelector } from '../../core/market/history/select.ts'
import type { BacktestReport } from '../report.ts'
import type { Parameters, StrategyName } from '../strategies.ts'

/** A run as plain data, ready to be sent to another process. */
export interface BacktestTask {
  readonly strategy: StrategyName
  readonly parameters: Parameters
  /** Alone; without it the whole universe. */
  readonly symbol?: string | undefined
  readonly fromMs: number | null
  readonly toMs: number | null
  readonly seed?: number | undefined
  /** Recorded bars of this home; without them the bars of the settings, as for a backtest. */
  readonly data: readonly SeriesSelector[]
  readonly isFromLog: boolean
  readonly resetsDaily: boolean
  /** Bars as CSV or JSON lines, instead of those of the settings. Only the command line names files. */
  readonly file?: string | undefined
  /** Instead of those of the settings. */
  readonly costs?: BacktestCosts | undefined
}

/** In basis points. */
export interface BacktestCosts {
  readonly feeBps?: number | undefined
  readonly slippageBps?: number | undefined
  /** Per 8 hours. */
  readonly fundingBps?: number | 'off' | undefined
}

/** A report, with what was left out of the bars. */
export type TaskReport = BacktestReport & { readonly left_out: readonly string[] }

export interface TaskOptions {
  readonly signal: AbortSignal
  readonly onProgress: (done: number, total: number) => void
}

/** Runs backtests beside the process that asks for them, so that it is never blocked. */
export interface TaskRunner {
  /** How many run at once. */
  readonly width: number
  /** Rejects with `TaskFailedError` for what the task asks, and with the reason of the signal after that. */
  run(task: BacktestTask, options: TaskOptions): Promise<TaskReport>
  close(): Promise<void>
}

/** The run cannot be made as it was asked for: another attempt would fail alike. */
export class TaskFailedError extends Error {
  override readonly name = 'TaskFailedError'
  /** As errors of commands and of the API are named, such as `data.not_found`. */
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}
