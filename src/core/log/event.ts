import type { JsonObject } from '../shared/json.ts'

/** The schema version that every event of this release carries in its hash. */
export const SCHEMA_VERSION = 'v1'

/** An event with its place in the log, before it has a hash. This is what the fold sees. */
export interface Stamped<Type extends string = string, Payload = JsonObject> {
  readonly seq: number
  readonly id: string
  readonly type: Type
  readonly ts: string
  readonly source: string | null
  readonly traceId: string | null
  readonly dedupeKey: string | null
  readonly payload: Payload
  readonly recordedAt: string
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
}

/** The end of the log: what the next event links to. */
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
  ts: record.ts,
  source: record.source,
  traceId: record.traceId,
  dedupeKey: record.dedupeKey,
  payload: JSON.parse(record.payload) as JsonObject,
  recordedAt: record.recordedAt,
})
