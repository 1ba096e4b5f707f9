import { categoryOf, type LogRecord } from '../../../core/log/event.ts'
import { signalItemText } from '../../../core/views/signals.ts'

/** An event as it goes over the wire, made once for all clients. */
export interface Frame {
  readonly category: string
  readonly bytes: Buffer
}

/** Some frames one after the other, ready to be written. */
export interface Chunk {
  readonly bytes: Buffer
  /** The same as a chunk of HTTP/1.1, so that framing is done once for all clients. */
  readonly framed: Buffer
  /** How many events are in it. */
  readonly events: number
  /** With it, everything up to this seq is told that its reader wants. */
  readonly upTo: number
}

export const RETRY = Buffer.from('retry: 2000\n\n')
export const KEEP_ALIVE = Buffer.from(': keep-alive\n\n')
export const UNKNOWN_ID = Buffer.from(': unknown event id, live events only\n\n')

export const frameOf = (record: LogRecord): Frame => ({
  category: categoryOf(record.type),
  bytes: Buffer.from(`id: ${record.id}\ndata: ${messageText(record)}\n\n`),
})

export const chunkOf = (frames: readonly Frame[], upTo: number): Chunk => {
  const length = frames.reduce((sum, { bytes }) => sum + bytes.length, 0)
  const head = Buffer.from(`${length.toString(16)}\r\n`)
  const framed = Buffer.concat([head, ...frames.map(({ bytes }) => bytes), CHUNK_END])
  return {
    bytes: framed.subarray(head.length, head.length + length),
    framed,
    events: frames.length,
    upTo,
  }
}

const CHUNK_END = Buffer.from('\r\n')

const LINE_END = /[\r\n]/

/** The same form as in lists, in one line: stored text has no line end, unless somebody changed it. */
const messageText = (record: LogRecord): string => {
  const text = signalItemText(record)
  return LINE_END.test(text) ? JSON.stringify(JSON.parse(text)) : text
}
