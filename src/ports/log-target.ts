import type { Head, LogRecord } from '../core/log/event.ts'
import type { EventLog } from './event-log.ts'

/** A place that can take in a whole log that was copied. Nothing of it is opened as a log before the copy is complete. */
export interface LogTarget {
  /** What is there now. Throws TargetInUseError while other processes are connected to it. */
  look(): Promise<Found>
  /**
   * Room for the copy. With `replace` a log that is there is kept under another name when the copy takes its place, and
   * `at` (an ISO time) becomes part of that name; until then nobody else can use it. Without it the place must be empty.
   */
  draft(options: { readonly replace: boolean; readonly at: string }): Promise<LogDraft>
}

export type Found =
  | { readonly status: 'empty' }
  | { readonly status: 'log'; readonly head: Head; readonly firstHash: string }
  /** Something is there, but it is no log that can be read. */
  | { readonly status: 'unreadable'; readonly why: string }

/** A copy in the making. It becomes the log of its place as a whole, or leaves nothing behind. */
export interface LogDraft extends Pick<EventLog, 'treeNodes'> {
  /** The next records, in order. */
  append(records: readonly LogRecord[], expected: Head): Promise<void>
  head(): Promise<Head>
  /** Durable when it resolves. Where the log that was there is kept; null if there was none. */
  install(): Promise<{ readonly replaced: string | null }>
  /** After `install` it does nothing. */
  discard(): Promise<void>
}

/** The place holds something that must not be replaced. */
export class TargetTakenError extends Error {
  override readonly name = 'TargetTakenError'
}

/** Other processes use the log that is there. */
export class TargetInUseError extends Error {
  override readonly name = 'TargetInUseError'
}
