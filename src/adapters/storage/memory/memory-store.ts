import type { LogRecord } from '../../../core/log/event.ts'
import type { Snapshot } from '../../../ports/event-log.ts'

/** Data that several handles on one log in memory share, as several processes share a file. */
export class MemoryStore {
  /** Records in the order of seq. */
  readonly records: LogRecord[] = []
  readonly snapshots: Snapshot[] = []
  readonly watchers = new Set<() => void>()
  /** Token of the newest leader; 0 before the first. Appends with an earlier token are refused. */
  leaderToken = 0
  isLed = false
}
