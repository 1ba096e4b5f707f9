import type { EventLog } from '../ports/event-log.ts'
import { readPages } from './read-pages.ts'

/** The last event of the batch that this one is in: signatures are those of whole batches. */
export const endOfBatch = async (log: Pick<EventLog, 'read'>, seq: number): Promise<number> => {
  let last = seq
  for await (const page of readPages(log, { after: seq - 1, order: 'asc', limit: BATCH_PAGE })) {
    const end = page.find(({ batchSignature }) => batchSignature !== null)
    if (end !== undefined) return end.seq
    last = page.at(-1)?.seq ?? last
  }
  return last
}

/** The last event before the batch that this one is in. */
export const startOfBatch = async (log: Pick<EventLog, 'read'>, seq: number): Promise<number> => {
  for await (const page of readPages(log, { before: seq, order: 'desc', limit: BATCH_PAGE })) {
    const end = page.find(({ batchSignature }) => batchSignature !== null)
    if (end !== undefined) return end.seq
  }
  return 0
}

const BATCH_PAGE = 200
