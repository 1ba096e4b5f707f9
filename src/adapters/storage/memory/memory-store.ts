import type { LogRecord } from '../../../core/log/event.ts'
import type { Snapshot } from '../../../ports/event-log.ts'

/** What several handles on one log in memory share, as several processes share a file. */
export class MemoryStore {
  /** In the order of seq. */
  readonly records: LogRecord[] = []
  readonly snapshots: Snapshot[] = []
  readonly watchers = new Set<() => void>()
  /** Of the newest leader; 0 before the first. Appends under an earlier one are refused. */
  leaderToken = 0
  isLed = false
}
