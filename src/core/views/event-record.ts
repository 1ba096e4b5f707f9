import { z } from 'zod'
import type { LogRecord } from '../log/event.ts'
import { payloadOf, payloadText, storedPayload } from './stored-payload.ts'

export const eventRecordView = z.object({
  seq: z.int().min(1),
  id: z.string(),
  type: z.string(),
  ts: z.string(),
  schema_version: z.string(),
  source: z.string().nullable(),
  trace_id: z.string().nullable(),
  dedupe_key: z.string().nullable(),
  payload: storedPayload,
  prev_hash: z.string(),
  hash: z.string(),
  signature: z.string().nullable(),
  signer: z.string().nullable(),
  recorded_at: z.string(),
})

export type EventRecordView = z.infer<typeof eventRecordView>

export const viewEventRecord = (record: LogRecord): EventRecordView => ({
  seq: record.seq,
  id: record.id,
  type: record.type,
  ts: record.ts,
  schema_version: record.schemaVersion,
  source: record.source,
  trace_id: record.traceId,
  dedupe_key: record.dedupeKey,
  payload: payloadOf(record) ?? record.payload,
  prev_hash: record.prevHash,
  hash: record.hash,
  signature: record.signature,
  signer: record.signer,
  recorded_at: record.recordedAt,
})

/** The same as JSON text. */
export const eventRecordText = (record: LogRecord): string =>
  `{"seq":${record.seq},"id":${quote(record.id)},"type":${quote(record.type)},"ts":${quote(record.ts)}` +
  `,"schema_version":${quote(record.schemaVersion)},"source":${quote(record.source)}` +
  `,"trace_id":${quote(record.traceId)},"dedupe_key":${quote(record.dedupeKey)},"payload":${payloadText(record)}` +
  `,"prev_hash":${quote(record.prevHash)},"hash":${quote(record.hash)},"signature":${quote(record.signature)}` +
  `,"signer":${quote(record.signer)},"recorded_at":${quote(record.recordedAt)}}`

const quote = (text: string | null): string => JSON.stringify(text)
