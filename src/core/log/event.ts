import { type Timestamp, timestampOf } from '../shared/brand.ts'
import type { JsonObject } from '../shared/json.ts'

/** The schema version that every event of this release carries in its hash. */
export const SCHEMA_VERSION = 'v1'

/** An event with its place in the log, before it has a hash. The fold reads events in this form. */
export interface Stamped<Type extends string = string, Payload = JsonObject> {
  readonly seq: number
  readonly id: string
  readonly type: Type
  readonly ts: Timestamp
  readonly source: string | null
  readonly traceId: string | null
  readonly dedupeKey: string | null
  readonly payload: Payload
  readonly recordedAt: Timestamp
}

/** A row of the log, exactly as stored: the payload is the canonical text that was hashed and signed. */
export interface LogRecord {
  readonly seq: number
  readonly id: string
  readonly type: string
  readonly ts: string
  readonly schemaVersion: string
  readonly source: string | null
  readonly traceId: string | null
  readonly dedupeKey: string | null
  readonly payload: string
  /** 64 lower-case hex digits; empty for the first event. */
  readonly prevHash: string
  readonly hash: string
  /** 128 lower-case hex digits. */
  readonly signature: string | null
  readonly signer: string | null
  readonly recordedAt: string
  /** On the last event of a batch: `<events in the batch>:<128 hex digits>`, over `batchText`. Null on the others. */
  readonly batchSignature: string | null
  /**
   * On the last event of a batch: the commands that the batch was decided from, as text (core/stored-commands.ts). Null
   * on the others, and in batches of releases that did not store commands.
   */
  readonly commands: string | null
}

/** The end of the log, which the next event links to. */
export interface Head {
  readonly seq: number
  readonly hash: string
  readonly recordedAt: string
}

export const EMPTY_HEAD: Head = { seq: 0, hash: '', recordedAt: '' }

export const headOf = ({ seq, hash, recordedAt }: LogRecord): Head => ({ seq, hash, recordedAt })

export const stampedFrom = (record: LogRecord): Stamped => ({
  seq: record.seq,
  id: record.id,
  type: record.type,
  ts: timestampOf(record.ts),
  source: record.source,
  traceId: record.traceId,
  dedupeKey: record.dedupeKey,
  payload: JSON.parse(record.payload) as JsonObject,
  recordedAt: timestampOf(record.recordedAt),
})

/** First segment of a type, by which the event stream filters: `signal` of `signal.ta.rsi.v1`. */
export const categoryOf = (type: string): string => {
  const dot = type.indexOf('.')
  return dot === -1 ? type : type.slice(0, dot)
}

/** First two segments of a type, by which the log is indexed and counted: `signal.ta` of `signal.ta.rsi.v1`. */
export const domainOf = (type: string): string => {
  const first = type.indexOf('.')
  const second = first === -1 ? -1 : type.indexOf('.', first + 1)
  return second === -1 ? type : type.slice(0, second)
}

/** Whether `type` is `prefix` or begins with all its segments. */
export const hasTypePrefix = (type: string, prefix: string): boolean =>
  type === prefix || type.startsWith(`${prefix}.`)
