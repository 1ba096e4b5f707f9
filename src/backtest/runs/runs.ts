import type { Holder } from '../../core/shared/fair-share.ts'
import type { JsonObject } from '../../core/shared/json.ts'
import type { SweepDocument } from '../sweep/document.ts'
import type { TaskReport } from '../sweep/task.ts'

/** Backtests and sweeps that somebody asked the service for. They are no state of the trading engine. */

export const RUN_KINDS = ['backtest', 'sweep'] as const

export type RunKind = (typeof RUN_KINDS)[number]

export const RUN_STATUSES = ['queued', 'running', 'done', 'failed', 'cancelled'] as const

/** With the names of the wire. */
export interface Run {
  readonly id: string
  readonly kind: RunKind
  /** Caller that submitted the run and may cancel it. */
  readonly owner: string
  readonly status: (typeof RUN_STATUSES)[number]
  /** What was asked for, as it is on the wire. */
  readonly request: JsonObject
  /** From 0 to 1. */
  readonly progress: number
  readonly created_at: string
  readonly started_at: string | null
  readonly ended_at: string | null
  /** How often it was begun: more than once where its process or the service ended in between. */
  readonly attempts: number
  readonly error: { readonly code: string; readonly message: string } | null
  /** What came out, in one plain sentence. */
  readonly verdict: string | null
  readonly edge_found: boolean | null
  /** The figures that lists compare. */
  readonly figures: RunFigures | null
}

export interface RunFigures {
  readonly total_return: number
  readonly sharpe: number
  readonly max_drawdown: number | null
  readonly p_value: number
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
  /** Newest first. */
  list(kind: RunKind): Promise<readonly Run[]>
  get(id: string): Promise<RunWithResult | null>
  /** Stops a run that waits or runs; forgets one that has ended. Null where there is none. */
  cancel(id: string): Promise<'cancelled' | 'removed' | null>
  /** Called when something about a run has changed. Returns how to stop listening. */
  onChange(listener: (run: Run) => void): () => void
  close(): Promise<void>
}

export const hasEnded = ({ status }: Pick<Run, 'status'>): boolean =>
  status !== 'queued' && status !== 'running'

/** What is asked for cannot be done; the message says why. */
export class RunRefusedError extends Error {
  override readonly name = 'RunRefusedError'
}
