import type { Holder } from '../../core/shared/fair-share.ts'
import type { JsonObject } from '../../core/shared/json.ts'
import type { SweepDocument } from '../sweep/document.ts'
import type { TaskReport } from '../sweep/task.ts'

/** Backtests and sweeps that callers submitted to the service. They are not part of the trading engine's state. */

export const RUN_KINDS = ['backtest', 'sweep'] as const

export type RunKind = (typeof RUN_KINDS)[number]

export const RUN_STATUSES = ['queued', 'running', 'done', 'failed', 'cancelled'] as const

/** A run, with the names of the wire. */
export interface Run {
  readonly id: string
  readonly kind: RunKind
  /** Caller that submitted the run and may cancel it. */
  readonly owner: string
  readonly status: (typeof RUN_STATUSES)[number]
  /** The request, as on the wire. */
  readonly request: JsonObject
  /** Progress from 0 to 1. */
  readonly progress: number
  readonly created_at: string
  readonly started_at: string | null
  readonly ended_at: string | null
  /** Number of starts. It exceeds 1 if the process or the service ended during the run. */
  readonly attempts: number
  readonly error: { readonly code: string; readonly message: string } | null
  /** The result in one plain sentence. */
  readonly verdict: string | null
  readonly edge_found: boolean | null
  /** The figures that lists show. */
  readonly figures: RunFigures | null
}

export interface RunFigures {
  readonly total_return: number
  /** Null for a backtest of too few days. */
  readonly sharpe: number | null
  readonly max_drawdown: number | null
  /** Null for a backtest of too few days. */
  readonly p_value: number | null
  readonly trades: number
  readonly days: number
}

export type RunResult = TaskReport | SweepDocument

export type RunWithResult = Run & { readonly result: RunResult | null }

export type Submitted =
  | { readonly status: 'accepted'; readonly run: Run }
  /** The queue is full, for all callers or for this one. */
  | { readonly status: 'full'; readonly max: number }
  | { readonly status: 'refused'; readonly reason: string }

export interface BacktestRuns {
  submit(kind: RunKind, request: JsonObject, by: Holder): Promise<Submitted>
  /** Runs, newest first. */
  list(kind: RunKind): Promise<readonly Run[]>
  get(id: string): Promise<RunWithResult | null>
  /** Stops a run that waits or runs, and removes one that has ended. Null if it does not exist. */
  cancel(id: string): Promise<'cancelled' | 'removed' | null>
  /** Calls the listener when a run has changed. Returns a function that removes the listener. */
  onChange(listener: (run: Run) => void): () => void
  close(): Promise<void>
}

export const hasEnded = ({ status }: Pick<Run, 'status'>): boolean =>
  status !== 'queued' && status !== 'running'

/** The request cannot be carried out. The message gives the reason. */
export class RunRefusedError extends Error {
  override readonly name = 'RunRefusedError'
}
