import type { EventLog } from '../../ports/event-log.ts'

export interface SeqBounds {
  /** Exclusive. */
  readonly after?: number | undefined
  readonly before?: number | undefined
}

/** Bounds in time as bounds on seq: those who are recorded later stand behind, so halving finds the place. */
export const seqBoundsWithin = async (
  log: EventLog,
  { after, before }: SeqBounds,
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
): Promise<SeqBounds> => {
  const first = from === undefined ? undefined : await firstSeqFrom(log, from)
  const end = to === undefined ? undefined : await firstSeqFrom(log, to)
  return {
    after: first === undefined ? after : Math.max(first - 1, after ?? 0),
    before: end === undefined ? before : Math.min(end, before ?? Infinity),
  }
}

/** The first event that was recorded at this time or later; one behind the head if there is none. */
const firstSeqFrom = async (log: EventLog, ts: string): Promise<number> => {
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
