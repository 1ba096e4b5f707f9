import type { LogRecord } from '../core/log/event.ts'

/** A derived entry that contradicts its event. */
export interface DerivedFault {
  readonly seq: number
  /** Name of the entry for people: `the index events_id`. */
  readonly what: string
}

/**
 * Columns, indexes, tables and counts that a store derives from its events to find them. No hash or signature covers
 * them. They can be compared with the events and rebuilt from them.
 */
export interface DerivedData {
  /** Names of indexes that are missing, or whose definition differs from this release. Takes a few queries. */
  alteredIndexes(): Promise<readonly string[]>
  /**
   * Names of triggers that this release has not created. A trigger can drop or change what is stored. SQLite only: the
   * tables of a PostgreSQL server may have triggers of its administrators.
   */
  foreignTriggers?(): Promise<readonly string[]>
  /** Looks up these events through every index and table, and counts their refs. */
  check(
    records: readonly LogRecord[],
  ): Promise<{ readonly faults: readonly DerivedFault[]; readonly refs: number }>
  /** Number of entries of indexes and tables, by name. Reads all of them. */
  counts(): Promise<ReadonlyMap<string, number>>
  /** Rebuilds everything from the events, in one transaction. Throws if two events share an id or dedupe key. */
  rebuild(): Promise<void>
}
