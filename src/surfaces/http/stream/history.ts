import type { EventLog } from '../../../ports/event-log.ts'
import type { Filter } from './filter.ts'
import { chunkOf, frameOf, type Chunk } from './frames.ts'
import type { StreamLimits } from './limits.ts'

export interface HistoryQuery {
  readonly after: number
  /** The first seq that need not be read. */
  readonly before: number
  readonly filter: Filter
  readonly limit: number
}

/** A page of the log. A page that is not full reaches up to `before`, whatever its last event is. */
export const readHistory = async (
  log: EventLog,
  { after, before, filter, limit }: HistoryQuery,
): Promise<Chunk> => {
  const { categories } = filter
  if (categories?.length === 0) return chunkOf([], before - 1)
  const types = categories === null ? {} : { types: categories }
  const records = await log.read({ after, before, ...types, order: 'asc', limit })
  const last = records.at(-1)
  const upTo = last === undefined || records.length < limit ? before - 1 : last.seq
  return chunkOf(records.map(frameOf), upTo)
}

/** Few to begin with, since nobody knows how large the events are. */
export const FIRST_PAGE_EVENTS = 50

/** Pages grow and shrink towards the size of one write. */
export const nextPageEvents = (
  limit: number,
  { bytes }: Pick<Chunk, 'bytes'>,
  { pageEventsMax, writeBytesMax }: Pick<StreamLimits, 'pageEventsMax' | 'writeBytesMax'>,
): number => {
  const fitting = Math.floor((limit * writeBytesMax) / Math.max(bytes.length, 1))
  return Math.max(1, Math.min(fitting, limit * 4, pageEventsMax))
}
