import type { EventLog } from '../ports/event-log.ts'

/** The last event of the batch that this one is in: signatures are those of whole batches. */
export const endOfBatch = async (log: Pick<EventLog, 'read'>, seq: number): Promise<number> => {
  for (let after = seq - 1; ;) {
    const page = await log.read({ after, order: 'asc', limit: BATCH_PAGE })
    const end = page.find(({ batchSignature }) => batchSignature !== null)
    const last = page.at(-1)
    if (end !== undefined || last === undefined || page.length < BATCH_PAGE) return (end ?? last)?.seq ?? seq
    after = last.seq
  }
}

/** The last event before the batch that this one is in. */
export const startOfBatch = async (log: Pick<EventLog, 'read'>, seq: number): Promise<number> => {
  for (let before = seq; ;) {
    const page = await log.read({ before, order: 'desc', limit: BATCH_PAGE })
    const end = page.find(({ batchSignature }) => batchSignature !== null)
    const last = page.at(-1)
    if (end !== undefined || last === undefined) return end?.seq ?? 0
    before = last.seq
  }
}

const BATCH_PAGE = 200
