import { z } from 'zod'
import type { LogRecord } from '../log/event.ts'
import { payloadOf } from '../log/payload.ts'
import { isJsonObject } from '../shared/json-object.ts'
import type { JsonObject } from '../shared/json.ts'
import { picked } from './members.ts'

/** A stored payload as it is shown. */
const storedPayload = z
  .union([
    z.custom<JsonObject>(isJsonObject).meta({ type: 'object', additionalProperties: true }),
    z.string(),
  ])
  .meta({ description: 'the stored text itself if it was damaged and is no JSON object any more' })

/**
 * The stored text of a payload, for splicing. It takes a third of the time of writing it anew, and numbers keep the
 * form that was hashed. It is still parsed, since damaged text must not break the answer.
 */
export const payloadText = (record: Pick<LogRecord, 'payload'>): string =>
  payloadOf(record) === null ? JSON.stringify(record.payload) : record.payload

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
  batch_signature: z.string().nullable(),
  commands: z.string().optional().meta({
    description: 'on the last event of a batch: the commands that led to it, which batch_signature covers',
  }),
  verified: z
    .literal(false)
    .optional()
    .meta({ description: 'present, and false, if no accepted key has signed the event where it stands' }),
})

/** The payload, or the stored text if it is damaged. */
export const shownPayload = (record: Pick<LogRecord, 'payload'>): JsonObject | string =>
  payloadOf(record) ?? record.payload

/** A stored event as JSON text. */
export const eventRecordText = (record: LogRecord, { isUnsigned = false } = {}): string =>
  `{"seq":${record.seq},"id":${quote(record.id)},"type":${quote(record.type)},"ts":${quote(record.ts)}` +
  `,"schema_version":${quote(record.schemaVersion)},"source":${quote(record.source)}` +
  `,"trace_id":${quote(record.traceId)},"dedupe_key":${quote(record.dedupeKey)},"payload":${payloadText(record)}` +
  `,"prev_hash":${quote(record.prevHash)},"hash":${quote(record.hash)},"signature":${quote(record.signature)}` +
  `,"signer":${quote(record.signer)},"recorded_at":${quote(record.recordedAt)}` +
  `,"batch_signature":${quote(record.batchSignature)}` +
  `${record.commands === null ? '' : `,"commands":${quote(record.commands)}`}${isUnsigned ? ',"verified":false' : ''}}`

const quote = (text: string | null): string => JSON.stringify(text)

/** Result of a verification of the log, as every surface shows it. */
export const integrityView = z.object({
  ok: z.boolean(),
  mode: z.enum(['fast', 'full']),
  checked: z.int().min(0),
  event_count: z.int().min(0),
  first_bad_id: z.string().nullable(),
  first_bad_seq: z.int().nullable(),
  reason: z.string().nullable(),
  head_seq: z.int().min(0),
  head_hash: z.string(),
  elapsed_ms: z.number().min(0),
})

export const viewIntegrity = picked(integrityView)
