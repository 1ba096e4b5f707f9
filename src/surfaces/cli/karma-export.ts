import type { LogRecord } from '../../core/log/event.ts'
import { shareAccrualView } from '../../core/views/treasury.ts'
import { payloadOf } from '../../core/views/log.ts'
import type { Json, JsonObject } from '../../core/shared/json.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { layoutsOf } from './export-layout.ts'
import type { Exportable } from './exporting.ts'

const MEMBERS = Object.keys(shareAccrualView.shape)

interface ExportedIntent {
  readonly createdAt: string
  /** In the order of the columns. */
  readonly members: JsonObject
}

/** What is owed or was settled, with its place in the chain, in the order of the log. */
export const KARMA: Exportable<ExportedIntent> = {
  plural: 'intents',
  pages: (log) => intentPages(log),
  momentOf: ({ createdAt }) => createdAt,
  layouts: layoutsOf({
    jsonOf: ({ members }) => JSON.stringify(members),
    columns: [...MEMBERS, 'status', 'receipt_id', 'chain_seq', 'chain_hash'],
    cellsOf: ({ members }) => Object.values(members).map(cellOf),
  }),
}

const PAGE = 500

async function* intentPages(log: EventLog): AsyncIterable<readonly ExportedIntent[]> {
  for (let after = 0; ;) {
    const records = await log.read({ types: ['karma.intent'], after, order: 'asc', limit: PAGE })
    const last = records.at(-1)
    if (last === undefined) return
    yield await Promise.all(records.map((record) => intentOf(log, record)))
    after = last.seq
  }
}

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
      ...Object.fromEntries(MEMBERS.map((member) => [member, stored[member] ?? null])),
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
