import { z } from 'zod'
import { canonicalJson, NotCanonicalError } from '../../core/log/canonical-json.ts'
import type { LogRecord } from '../../core/log/event.ts'
import type { JsonObject } from '../../core/shared/json.ts'

export type ParsedLine =
  | { readonly status: 'record'; readonly record: LogRecord }
  | {
      readonly status: 'malformed'
      readonly reason: 'field' | 'canonical'
      readonly seq: number | null
      readonly id: string | null
      readonly why: string
    }

/** One line of an export: an event record of the interface, its payload as a JSON object. */
export const parseExportLine = (line: string): ParsedLine => {
  const json = jsonIn(line)
  if (json === undefined) return malformed('field', null, null, 'this is no JSON')
  const parsed = eventRecord.safeParse(json)
  if (!parsed.success) {
    const members = parsed.error.issues.map(({ path }) => path.join('.') || 'the whole')
    return malformed('field', null, null, `no event record: ${[...new Set(members)].join(', ')}`)
  }
  const { data } = parsed
  try {
    // The stored text is the canonical one, so it can be made again from the value.
    return { status: 'record', record: recordOf(data, canonicalJson(data.payload as JsonObject)) }
  } catch (error) {
    if (!(error instanceof NotCanonicalError)) throw error
    return malformed('canonical', data.seq, data.id, `the payload has no canonical text: ${error.message}`)
  }
}

const eventRecord = z.object({
  seq: z.int(),
  id: z.string(),
  type: z.string(),
  ts: z.string(),
  schema_version: z.string(),
  source: z.string().nullable(),
  trace_id: z.string().nullable(),
  dedupe_key: z.string().nullable(),
  payload: z.record(z.string(), z.unknown()),
  prev_hash: z.string(),
  hash: z.string(),
  signature: z.string().nullable(),
  signer: z.string().nullable(),
  recorded_at: z.string(),
  batch_signature: z.string().nullable(),
})

const recordOf = (data: z.infer<typeof eventRecord>, payload: string): LogRecord => ({
  seq: data.seq,
  id: data.id,
  type: data.type,
  ts: data.ts,
  schemaVersion: data.schema_version,
  source: data.source,
  traceId: data.trace_id,
  dedupeKey: data.dedupe_key,
  payload,
  prevHash: data.prev_hash,
  hash: data.hash,
  signature: data.signature,
  signer: data.signer,
  recordedAt: data.recorded_at,
  batchSignature: data.batch_signature,
})

const malformed = (
  reason: 'field' | 'canonical',
  seq: number | null,
  id: string | null,
  why: string,
): ParsedLine => ({ status: 'malformed', reason, seq, id, why })

/** Undefined when the text is no JSON: whoever reads the line reports it. */
export const jsonIn = (line: string): unknown => {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
