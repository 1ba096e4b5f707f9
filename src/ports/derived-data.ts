import type { LogRecord } from '../core/log/event.ts'

/** Something that is derived from an event and does not say what the event says. */
export interface DerivedFault {
  readonly seq: number
  /** For people: `the index events_id`. */
  readonly what: string
}

/**
 * Columns, indexes, tables and counts that a store derives from its events to find them. No hash or signature covers
 * them. They can be compared with the events and rebuilt from them.
 */
export interface DerivedData {
  /** Names of indexes that are missing, or that are defined in another way than by this release. Takes a few queries. */
  alteredIndexes(): Promise<readonly string[]>
  /** Looks for these events through every index and table, and counts the refs that they have. */
  check(
    records: readonly LogRecord[],
  ): Promise<{ readonly faults: readonly DerivedFault[]; readonly refs: number }>
  /** How many entries indexes and tables hold, by name. Reads all of them. */
  counts(): Promise<ReadonlyMap<string, number>>
  /** Makes everything from the events again, in one transaction. Throws if two events hold one id or dedupe key. */
  rebuild(): Promise<void>
}
