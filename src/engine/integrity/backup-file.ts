import { z } from 'zod'
import { parseSignedCheckpoint, type SignedCheckpoint } from '../../core/log/checkpoint.ts'
import { canonicalJson, NotCanonicalError } from '../../core/log/canonical-json.ts'
import type { LogRecord } from '../../core/log/event.ts'
import type { JsonObject } from '../../core/shared/json.ts'
import { eventRecordText } from '../../core/views/log.ts'
import type { EventLog } from '../../ports/event-log.ts'

/**
 * A backup is an export of the whole log after a line with a signed checkpoint of exactly these events. The checkpoint
 * comes first, so that a reader knows from the beginning how far the file must reach.
 */
export interface CopiedLog {
  /** Null for a plain export. */
  readonly checkpoint: SignedCheckpoint | null
  /** Event records, one per line. */
  readonly lines: AsyncIterable<string>
}

/** Thrown for a file that is not a copy of a log, or that this release cannot read. */
export class NotACopyError extends Error {
  override readonly name = 'NotACopyError'
}

/**
 * Writes the log as of the checkpoint. Stored events never change, so no lock or long transaction is needed, and events
 * appended meanwhile do not matter. Verifying the file shows whether anything else has changed.
 */
export async function* backupTexts(
  log: Pick<EventLog, 'scan'>,
  checkpoint: SignedCheckpoint,
  madeAt: string,
): AsyncGenerator<{ readonly text: string; readonly written: number }> {
  const { note, frontier } = checkpoint
  const header = { [MARK]: VERSION, made_at: madeAt, events: frontier.size, checkpoint: note }
  yield { text: `${JSON.stringify(header)}\n`, written: 0 }
  let written = 0
  for await (const records of log.scan({ after: 0, upTo: frontier.size })) {
    written += records.length
    yield { text: records.map((record) => `${eventRecordText(record)}\n`).join(''), written }
  }
}

const VERSION = 1
const MARK = 'signal_engine_backup'

/**
 * Reads the first line, to distinguish a backup from an export. Throws NotACopyError if the file begins like a backup
 * but is not readable as one. The caller checks the other lines.
 */
export const openCopy = async (lines: AsyncIterable<string>): Promise<CopiedLog> => {
  const iterator = lines[Symbol.asyncIterator]()
  const rest = { [Symbol.asyncIterator]: () => iterator }
  const first = await iterator.next()
  if (first.done === true) return { checkpoint: null, lines: rest }
  const json = jsonIn(first.value)
  const isBackup = typeof json === 'object' && json !== null && MARK in json
  if (!isBackup) return { checkpoint: null, lines: withFirst(first.value, rest) }
  const header = headerSchema.safeParse(json)
  if (!header.success) {
    const version = json[MARK]
    throw new NotACopyError(
      typeof version === 'number' && version !== VERSION
        ? `the backup has format version ${version}, this release reads version ${VERSION}`
        : 'the first line of the backup is damaged',
    )
  }
  const checkpoint = parseSignedCheckpoint(header.data.checkpoint)
  if (checkpoint === null || checkpoint.frontier.size !== header.data.events)
    throw new NotACopyError('the checkpoint in the first line of the backup is damaged')
  return { checkpoint, lines: rest }
}

const headerSchema = z.object({
  [MARK]: z.literal(VERSION),
  made_at: z.string(),
  events: z.int().min(1),
  checkpoint: z.string(),
})

async function* withFirst(first: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield first
  yield* rest
}

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
    // The stored text is canonical, so it can be rebuilt from the value.
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
  commands: z.string().optional(),
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
  commands: data.commands ?? null,
})

const malformed = (
  reason: 'field' | 'canonical',
  seq: number | null,
  id: string | null,
  why: string,
): ParsedLine => ({ status: 'malformed', reason, seq, id, why })

/** Returns undefined for text that is not JSON. The caller reports it. */
const jsonIn = (line: string): unknown => {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
