import type { EventLog } from '../../ports/event-log.ts'

/** The first event that was recorded at this time or later; `head + 1` if there is none. */
export const firstSeqFrom = async (log: EventLog, ts: string): Promise<number> => {
  let low = 1
  let high = (await log.head()).seq + 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const [record] = await log.read({ after: middle - 1, order: 'asc', limit: 1 })
    if (record === undefined || record.recordedAt >= ts) high = middle
    else low = middle + 1
  }
  return low
}
