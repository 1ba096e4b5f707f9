import { categoryOf } from '../../../core/log/domain.ts'
import type { LogRecord } from '../../../core/log/event.ts'

/** An event as it goes over the wire, made once for all clients. */
export interface Frame {
  readonly category: string
  readonly bytes: Buffer
}

/** Some frames one after the other, ready to be written. */
export interface Chunk {
  readonly bytes: Buffer
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

export const chunkOf = (frames: readonly Frame[], upTo: number): Chunk => ({
  bytes: Buffer.concat(frames.map(({ bytes }) => bytes)),
  events: frames.length,
  upTo,
})

const messageText = (record: LogRecord): string =>
  `{"id":${JSON.stringify(record.id)},"type":${JSON.stringify(record.type)},"ts":${JSON.stringify(record.ts)}` +
  `,"source":${JSON.stringify(record.source)},"payload":${payloadText(record.payload)}}`

const LINE_END = /[\r\n]/

/** As it was stored. Text that somebody damaged is quoted: one event must not break the stream for all. */
const payloadText = (stored: string): string => {
  const payload = parsed(stored)
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) return JSON.stringify(stored)
  return LINE_END.test(stored) ? JSON.stringify(payload) : stored
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return null
  }
}
