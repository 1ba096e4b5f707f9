import type { LogRecord } from '../../../core/log/event.ts'
import type { Json, JsonObject } from '../../../core/shared/json.ts'
import { payloadOf } from '../../../core/log/payload.ts'
import { eventRecordText } from '../../../core/views/log.ts'
import { shareAccrualView } from '../../../core/views/treasury.ts'
import { readPages } from '../../../engine/read-pages.ts'
import { equityHistoryOf } from '../../../engine/queries/views.ts'
import type { TableCell, TableColumn } from '../../../ports/bar-history.ts'
import type { EventLog } from '../../../ports/event-log.ts'
import { parseFrom, parseTo } from '../arguments.ts'
import type { DefineCommand, SvcCommand } from '../command.ts'
import {
  EXPORT_FORMATS,
  exportItems,
  pagesOfBelievedLog,
  pagesOfLog,
  type Exportable,
  type ExportOptions,
} from '../exporting.ts'
import { stateOf } from '../store.ts'

export const define: DefineCommand = (command) => {
  command.description('Writes what is stored, to archive, analyse or verify elsewhere.')
  withExportOptions(command.command('events'), 'events')
    .summary('event records with hashes and signatures, in order')
    .description(
      'Writes event records in the order of the log, as they are stored. Nothing is redacted, since a changed record ' +
        'would no longer verify.',
    )
    .examples(
      'svc export events --output events.jsonl',
      'svc integrity --file events.jsonl',
      'svc export events --format csv --from 2026-02-01 --to 2026-02-28 > feb.csv',
      'svc export events --output events.parquet',
    )
    .runs((invocation, options: ExportOptions) => exportItems(invocation, EVENTS, options))
  withExportOptions(command.command('karma'), 'intents')
    .summary('karma intents with their receipts and their place in the chain')
    .description('Writes the shares of profit of closed trades, with the receipt where they were settled.')
    .examples('svc export karma', 'svc export karma --format csv --output karma.csv')
    .runs((invocation, options: ExportOptions) => exportItems(invocation, TREASURY_INTENTS, options))
  withExportOptions(command.command('trades'), 'trades closed')
    .summary('closed trades, with entry, exit, fees, funding and excursions')
    .description('Writes the trades that were closed, oldest first.')
    .examples('svc export trades', 'svc export trades --output trades.parquet')
    .runs((invocation, options: ExportOptions) => exportItems(invocation, TRADES, options))
  withExportOptions(command.command('equity'), 'points')
    .summary('equity of the account over the last 30 days')
    .description(
      'Writes equity over time as it is kept: in steps of 15 seconds for 6 hours, 90 seconds for 36 hours, 9 minutes ' +
        'for a week and 42 minutes for 30 days.',
    )
    .examples('svc export equity', 'svc export equity --output equity.parquet')
    .runs((invocation, options: ExportOptions) => exportItems(invocation, EQUITY, options))
}

const withExportOptions = (command: SvcCommand, plural: string): SvcCommand =>
  command
    .choice(
      '--format <format>',
      'one item per line, one array, or a table (default: as the file is named, else jsonl)',
      EXPORT_FORMATS,
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

const EVENT_COLUMN_TYPES: Readonly<Record<string, TableColumn['type']>> = {
  seq: 'integer',
  schema_version: 'integer',
  ts: 'time',
  recorded_at: 'time',
}

const EVENTS: Exportable<LogRecord> = {
  plural: 'events',
  pages: pagesOfLog(async function* (log, progress) {
    const { seq: upTo } = await log.head()
    for await (const records of log.scan({ after: 0, upTo })) {
      yield records
      progress?.update(records.at(-1)?.seq ?? 0, upTo)
    }
  }),
  timestampOf: ({ ts }) => ts,
  jsonOf: (record) => eventRecordText(record),
  columns: Object.keys(EVENT_COLUMNS).map((name) => ({ name, type: EVENT_COLUMN_TYPES[name] ?? 'text' })),
  cellsOf: (record) => Object.values(EVENT_COLUMNS).map((member) => record[member]),
}

const INTENT_MEMBERS = Object.keys(shareAccrualView.shape)

/** Types of members that are numbers or times. All others are text, and lists are JSON. */
const INTENT_COLUMN_TYPES: Readonly<Record<string, TableColumn['type']>> = {
  realized_pnl_usd: 'number',
  karma_percentage: 'number',
  karma_amount_usd: 'number',
  created_at: 'time',
}

interface ExportedIntent {
  readonly createdAt: string
  /** Members in the order of the columns. */
  readonly members: JsonObject
}

const TREASURY_INTENTS: Exportable<ExportedIntent> = {
  plural: 'intents',
  pages: pagesOfBelievedLog(async function* (log) {
    for await (const records of recordsOf(log, 'karma.intent')) {
      yield await Promise.all(records.map((record) => intentOf(log, record)))
    }
  }),
  timestampOf: ({ createdAt }) => createdAt,
  jsonOf: ({ members }) => JSON.stringify(members),
  columns: [
    ...INTENT_MEMBERS.map((name) => ({ name, type: INTENT_COLUMN_TYPES[name] ?? ('text' as const) })),
    { name: 'status', type: 'text' },
    { name: 'receipt_id', type: 'text' },
    { name: 'chain_seq', type: 'integer' },
    { name: 'chain_hash', type: 'text' },
  ],
  cellsOf: ({ members }) => Object.values(members).map(cellOf),
}

const PAGE = 500

/** All events of a type, oldest first. */
const recordsOf = (log: EventLog, type: string): AsyncIterable<readonly LogRecord[]> =>
  readPages(log, { types: [type], order: 'asc', limit: PAGE })

/** The log names the id `intent_id`, every answer `id`. Members that were not stored are null. */
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

const cellOf = (value: Json): TableCell =>
  value === null || typeof value === 'string' || typeof value === 'number' ? value : JSON.stringify(value)

/** Columns from the events of the entry and the exit, under the names of the events. */
const TRADE_COLUMNS: readonly TableColumn[] = [
  ...(['position_id', 'platform', 'asset', 'direction', 'mode'] as const).map(text),
  { name: 'opened_at', type: 'time' },
  { name: 'closed_at', type: 'time' },
  ...(
    [
      'entry_price',
      'exit_price',
      'quantity',
      'size_notional',
      'leverage',
      'stop_loss',
      'take_profit',
      'gross_pnl',
      'fees_usd',
      'funding_usd',
      'realized_pnl',
      'realized_pnl_pct',
      'max_adverse_pct',
      'max_favorable_pct',
    ] as const
  ).map((name) => ({ name, type: 'number' }) as const),
  ...(['exit_reason', 'regime_at_entry', 'intent_id', 'conviction_id'] as const).map(text),
]

function text(name: string): TableColumn {
  return { name, type: 'text' }
}

const TRADES: Exportable<JsonObject> = {
  plural: 'trades',
  pages: pagesOfBelievedLog(async function* (log) {
    for await (const records of recordsOf(log, 'execution.position_closed')) {
      yield await Promise.all(records.map((record) => tradeOf(log, record)))
    }
  }),
  timestampOf: ({ closed_at }) => (typeof closed_at === 'string' ? closed_at : ''),
  jsonOf: (trade) => JSON.stringify(trade),
  columns: TRADE_COLUMNS,
  cellsOf: (trade) => Object.values(trade).map(cellOf),
}

/** Members that the exit lacks come from the entry. An adopted position has no entry. */
const tradeOf = async (log: EventLog, record: LogRecord): Promise<JsonObject> => {
  const exit = payloadOf(record) ?? {}
  const about = exit['position_id']
  const [opened] =
    typeof about === 'string'
      ? await log.read({ about, types: ['execution.position_opened'], order: 'asc', limit: 1 })
      : []
  const entry = opened === undefined ? {} : (payloadOf(opened) ?? {})
  const members: JsonObject = { ...entry, ...exit, opened_at: opened?.ts ?? null, closed_at: record.ts }
  return Object.fromEntries(TRADE_COLUMNS.map(({ name }) => [name, members[name] ?? null]))
}

const EQUITY_HOURS = 720
/** Limit above the number of points kept for 30 days. */
const EQUITY_POINTS = 1440

const EQUITY: Exportable<{ readonly ts: string; readonly equity_usd: number }> = {
  plural: 'points',
  async *pages({ openExistingStore, clock }) {
    await using session = await openExistingStore()
    if (session === null) return
    const { log, trust } = session
    const reader = { log, fresh: () => stateOf(log, trust) }
    const { points } = await equityHistoryOf(reader, EQUITY_HOURS, clock, EQUITY_POINTS)
    yield points
  },
  timestampOf: ({ ts }) => ts,
  jsonOf: (point) => JSON.stringify(point),
  columns: [
    { name: 'ts', type: 'time' },
    { name: 'equity_usd', type: 'number' },
  ],
  cellsOf: ({ ts, equity_usd }) => [ts, equity_usd],
}
