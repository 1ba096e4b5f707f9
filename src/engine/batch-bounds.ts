import type { LogRecord } from '../core/log/event.ts'
import type { EventLog } from '../ports/event-log.ts'
import { readPages } from './read-pages.ts'

/** Events from this one to the end of its batch. Signatures cover whole batches. */
export async function* restOfBatch(log: Pick<EventLog, 'read'>, seq: number): AsyncGenerator<LogRecord> {
  for await (const page of readPages(log, { after: seq - 1, order: 'asc', limit: BATCH_PAGE })) {
    for (const record of page) {
      yield record
      if (record.batchSignature !== null) return
    }
  }
}

export const endOfBatch = async (log: Pick<EventLog, 'read'>, seq: number): Promise<number> => {
  let last = seq
  for await (const record of restOfBatch(log, seq)) last = record.seq
  return last
}

/** The last event before the batch of this event. */
export const startOfBatch = async (log: Pick<EventLog, 'read'>, seq: number): Promise<number> => {
  for await (const page of readPages(log, { before: seq, order: 'desc', limit: BATCH_PAGE })) {
    const end = page.find(({ batchSignature }) => batchSignature !== null)
    if (end !== undefined) return end.seq
  }
  return 0
}

const BATCH_PAGE = 200
