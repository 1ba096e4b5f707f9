import type { Head, LogRecord } from '../core/log/event.ts'
import type { EventLog } from './event-log.ts'

/** A place that can receive a copy of a whole log. It is not opened as a log before the copy is complete. */
export interface LogTarget {
  /** Reports what the place holds now. Throws TargetInUseError while other processes are connected to it. */
  look(): Promise<TargetContent>
  /**
   * Prepares a copy. With `replace`, an existing log is kept under another name when the copy replaces it. `at` (an ISO
   * time) becomes part of that name, and until then no other process can use the log. Without `replace` the place must
   * be empty.
   */
  draft(options: { readonly replace: boolean; readonly at: string }): Promise<LogDraft>
}

export type TargetContent =
  | { readonly status: 'empty' }
  | { readonly status: 'log'; readonly head: Head; readonly firstHash: string }
  /** The place holds something that is not a readable log. */
  | { readonly status: 'unreadable'; readonly why: string }

/** An unfinished copy. It becomes the log of its place as a whole, or leaves nothing behind. */
export interface LogDraft extends Pick<EventLog, 'treeNodes'> {
  /** Appends the next records, in order. */
  append(records: readonly LogRecord[], expected: Head): Promise<void>
  head(): Promise<Head>
  /** Makes the copy durable and puts it in place. Returns where the previous log is kept; null if there was none. */
  install(): Promise<{ readonly replaced: string | null }>
  /** Drops the copy. Has no effect after `install`. */
  discard(): Promise<void>
}

/** Thrown if the place holds something that must not be replaced. */
export class TargetTakenError extends Error {
  override readonly name = 'TargetTakenError'
}

/** Thrown while other processes use the log at this place. */
export class TargetInUseError extends Error {
  override readonly name = 'TargetInUseError'
}
