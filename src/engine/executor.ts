import type { Command } from '../core/decide.ts'
import type { State } from '../core/state.ts'
import type { Outcome } from './plan.ts'

/** Where commands are carried out: the engine on its log, or a run through recorded time. */
export interface Executor {
  /** The fold of all that was carried out. */
  readonly state: State
  /** Those of the keys that an event has already. */
  readonly log: { findByDedupeKeys(keys: readonly string[]): Promise<ReadonlyMap<string, unknown>> }
  execute(command: Command, options?: ExecuteOptions): Promise<Outcome>
}

export interface ExecuteOptions {
  readonly traceId?: string | null
  /** See `Request`. */
  readonly alongside?: Command | null
}
