import { categoryOf, type LogRecord } from '../../../core/log/event.ts'
import { signalItemText } from '../../../core/views/signals.ts'
import type { EventLog } from '../../../ports/event-log.ts'

/** Which events a client wants. */
export interface StreamFilter {
  /** Filters with the same key want the same events. */
  readonly key: string
  /** First segments of types; null for all. */
  readonly categories: readonly string[] | null
  readonly wants: (category: string) => boolean
}

/** An event as it goes over the wire, built once for all clients. */
export interface Frame {
  readonly category: string
  readonly bytes: Buffer
}

/** Consecutive frames, ready to be written. */
export interface Chunk {
  readonly bytes: Buffer
  /** `bytes` as a chunk of HTTP/1.1, framed once for all clients. */
  readonly framed: Buffer
  /** A client that has it has every event up to this seq that its filter lets through. */
  readonly upTo: number
}

export const RETRY = Buffer.from('retry: 2000\n\n')
/** Before the service ends a stream: the client reconnects, and another process answers. */
export const GOODBYE = Buffer.from(': the service is stopping\nretry: 1000\n\n')
export const KEEP_ALIVE = Buffer.from(': keep-alive\n\n')
export const UNKNOWN_ID = Buffer.from(': unknown event id, live events only\n\n')

/** From `signal,alert`: exact first segments; an empty list means everything. */
export const filterOf = (names = ''): StreamFilter => {
  const given = names
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  if (given.length === 0) return ALL
  // A name with a dot is no first segment, so no event matches it.
  const wanted = new Set(given.filter((name) => name === categoryOf(name)))
  const categories = [...wanted].toSorted()
  return { key: `only ${categories.join(',')}`, categories, wants: (category) => wanted.has(category) }
}

const ALL: StreamFilter = { key: 'all', categories: null, wants: () => true }

export const frameOf = (record: LogRecord): Frame => ({
  category: categoryOf(record.type),
  bytes: Buffer.from(`id: ${record.id}\ndata: ${messageText(record)}\n\n`),
})

export const chunkOf = (frames: readonly Frame[], upTo: number): Chunk => {
  const length = frames.reduce((sum, { bytes }) => sum + bytes.length, 0)
  const head = Buffer.from(`${length.toString(16)}\r\n`)
  const framed = Buffer.concat([head, ...frames.map(({ bytes }) => bytes), CHUNK_END])
  return { bytes: framed.subarray(head.length, head.length + length), framed, upTo }
}

const CHUNK_END = Buffer.from('\r\n')

/** Consecutive events of the log that a filter lets through, for all clients that stand in it. */
export class LogPage {
  readonly filterKey: string
  /** Size of all of its events. */
  readonly bytes: number
  readonly #after: number
  readonly #upTo: number
  readonly #frames: readonly { readonly seq: number; readonly frame: Frame }[]
  /** Clients at the same position share its bytes. */
  #newest: { readonly cursor: number; readonly chunk: Chunk } | null = null

  constructor(
    { key }: StreamFilter,
    after: number,
    upTo: number,
    frames: readonly { readonly seq: number; readonly frame: Frame }[],
  ) {
    this.filterKey = key
    this.bytes = frames.reduce((sum, { frame }) => sum + frame.bytes.length, 0)
    this.#after = after
    this.#upTo = upTo
    this.#frames = frames
  }

  /** Whether what follows this position is in the page, as far as the page goes. */
  holds(cursor: number): boolean {
    return cursor >= this.#after && cursor < this.#upTo
  }

  chunkAfter(cursor: number): Chunk {
    if (this.#newest?.cursor === cursor) return this.#newest.chunk
    const frames = this.#frames.filter(({ seq }) => seq > cursor).map(({ frame }) => frame)
    const chunk = chunkOf(frames, this.#upTo)
    this.#newest = { cursor, chunk }
    return chunk
  }
}

/** A page that is not full reaches up to `before`, whatever its last event is. */
export const readPage = async (
  log: Pick<EventLog, 'read'>,
  filter: StreamFilter,
  { after, before, limit }: { readonly after: number; readonly before: number; readonly limit: number },
): Promise<LogPage> => {
  const { categories } = filter
  if (categories?.length === 0) return new LogPage(filter, after, before - 1, [])
  const types = categories === null ? {} : { types: categories }
  const records = await log.read({ after, before, ...types, order: 'asc', limit })
  const last = records.at(-1)
  const upTo = last === undefined || records.length < limit ? before - 1 : last.seq
  return new LogPage(
    filter,
    after,
    upTo,
    records.map((record) => ({ seq: record.seq, frame: frameOf(record) })),
  )
}

const LINE_END = /[\r\n]/

/** Returns the text of a list item on one line. Stored text has no line end unless somebody tampered with the log. */
const messageText = (record: LogRecord): string => {
  const text = signalItemText(record)
  return LINE_END.test(text) ? JSON.stringify(JSON.parse(text)) : text
}
