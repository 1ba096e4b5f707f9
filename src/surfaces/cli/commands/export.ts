import { Option, type Command } from 'commander'
import type { LogRecord } from '../../../core/log/event.ts'
import type { Json, JsonObject } from '../../../core/shared/json.ts'
import { payloadOf } from '../../../core/log/payload.ts'
import { eventRecordText } from '../../../core/views/log.ts'
import { shareAccrualView } from '../../../core/views/treasury.ts'
import type { EventLog } from '../../../ports/event-log.ts'
import { parseFrom, parseTo } from '../arguments.ts'
import { examples, type DefineCommand } from '../command.ts'
import { EXPORT_FORMATS, exportItems, type Exportable, type ExportOptions } from '../exporting.ts'

export const define: DefineCommand = (command, run) => {
  command.description('Writes what is stored, to archive, analyse or verify elsewhere.')
  withExportOptions(command.command('events'), 'events')
    .summary('event records with hashes and signatures, in order')
    .description(
      'Writes event records in the order of the log, as they are stored. Nothing is redacted, since a changed record ' +
        'would no longer verify.',
    )
    .addHelpText(
      'after',
      examples(
        'svc export events --output events.jsonl',
        'svc integrity --file events.jsonl',
        'svc export events --format csv --from 2026-02-01 --to 2026-02-28 > feb.csv',
      ),
    )
    .action(run((invocation, options: ExportOptions) => exportItems(invocation, EVENTS, options)))
  withExportOptions(command.command('karma'), 'intents')
    .summary('karma intents with their receipts and their place in the chain')
    .description('Writes the shares of profit of closed trades, with the receipt where they were settled.')
    .addHelpText('after', examples('svc export karma', 'svc export karma --format csv --output karma.csv'))
    .action(run((invocation, options: ExportOptions) => exportItems(invocation, TREASURY_INTENTS, options)))
}

const withExportOptions = (command: Command, plural: string): Command =>
  command
    .addOption(
      new Option('--format <format>', 'one item per line, one array, or a table (default: jsonl)').choices(
        EXPORT_FORMATS,
      ),
    )
    .option('--from <date>', `only ${plural} at or after this date or time`, parseFrom)
    .option('--to <date>', `only ${plural} at or before this date or time`, parseTo)
    .option('--output <file>', 'write to this file instead of standard output')
    .option('--force', 'replace the file if it exists')

/** Column and member of the record. */
const EVENT_COLUMNS = {
  seq: 'seq',
  id: 'id',
  type: 'type',
  ts: 'ts',
  schema_version: 'schemaVersion',
  source: 'source',
  trace_id: 'traceId',
  dedupe_key: 'dedupeKey',
  payload: 'payload',
  prev_hash: 'prevHash',
  hash: 'hash',
  signature: 'signature',
  signer: 'signer',
  recorded_at: 'recordedAt',
} as const satisfies Readonly<Record<string, keyof LogRecord>>

const EVENTS: Exportable<LogRecord> = {
  plural: 'events',
  async *pages(log, progress) {
    const { seq: upTo } = await log.head()
    for await (const records of log.scan({ after: 0, upTo })) {
      yield records
      progress?.update(records.at(-1)?.seq ?? 0, upTo)
    }
  },
  timestampOf: ({ ts }) => ts,
  jsonOf: (record) => eventRecordText(record),
  columns: Object.keys(EVENT_COLUMNS),
  cellsOf: (record) => Object.values(EVENT_COLUMNS).map((member) => record[member]),
}

const INTENT_MEMBERS = Object.keys(shareAccrualView.shape)

interface ExportedIntent {
  readonly createdAt: string
  /** In the order of the columns. */
  readonly members: JsonObject
}

const TREASURY_INTENTS: Exportable<ExportedIntent> = {
  plural: 'intents',
  async *pages(log) {
    for (let after = 0; ;) {
      const records = await log.read({ types: ['karma.intent'], after, order: 'asc', limit: PAGE })
      const last = records.at(-1)
      if (last === undefined) return
      yield await Promise.all(records.map((record) => intentOf(log, record)))
      after = last.seq
    }
  },
  timestampOf: ({ createdAt }) => createdAt,
  jsonOf: ({ members }) => JSON.stringify(members),
  columns: [...INTENT_MEMBERS, 'status', 'receipt_id', 'chain_seq', 'chain_hash'],
  cellsOf: ({ members }) => Object.values(members).map(cellOf),
}

const PAGE = 500

/** The log calls it `intent_id`, every answer `id`. What was not stored is null. */
const intentOf = async (log: EventLog, record: LogRecord): Promise<ExportedIntent> => {
  const payload = payloadOf(record) ?? {}
  const { intent_id: id = null, created_at } = payload
  const createdAt = typeof created_at === 'string' ? created_at : record.ts
  const stored: JsonObject = { ...payload, id, created_at: createdAt }
  const receiptId = typeof id === 'string' ? await receiptIdOf(log, id) : null
  return {
    createdAt,
    members: {
      ...Object.fromEntries(INTENT_MEMBERS.map((member) => [member, stored[member] ?? null])),
      status: receiptId === null ? 'pending' : 'settled',
      receipt_id: receiptId,
      chain_seq: record.seq,
      chain_hash: record.hash,
    },
  }
}

const receiptIdOf = async (log: EventLog, intentId: string): Promise<Json> => {
  const [settlement] = await log.read({
    about: intentId,
    types: ['karma.settlement'],
    order: 'asc',
    limit: 1,
  })
  return settlement === undefined ? null : (payloadOf(settlement)?.['receipt_id'] ?? null)
}

const cellOf = (value: Json): string | number | null =>
  value === null || typeof value === 'string' || typeof value === 'number' ? value : JSON.stringify(value)
