import type { LogRecord } from '../../core/log/event.ts'
import type { EventLog, LogQuery } from '../../ports/event-log.ts'

/** The first event that was recorded at this time or later; `head + 1` if there is none. */
export const firstSeqFrom = (log: EventLog, ts: string): Promise<number> =>
  firstSeqWhere(log, {}, ({ recordedAt }) => recordedAt >= ts)

/**
 * Seq after all of these events for which the condition is still false. The condition must follow the order of the log,
 * so that a binary search finds the place with few reads, however long the log is.
 */
export const firstSeqWhere = async (
  log: EventLog,
  which: Pick<LogQuery, 'about' | 'types'>,
  isReached: (record: LogRecord) => boolean,
): Promise<number> => {
  let low = 0
  let high = (await log.head()).seq
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const [record] = await log.read({ ...which, after: middle, order: 'asc', limit: 1 })
    if (record === undefined || isReached(record)) high = middle
    else low = record.seq
  }
  return high + 1
}
