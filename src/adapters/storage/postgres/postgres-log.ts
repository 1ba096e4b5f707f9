import type { LogRecord } from '../../../core/log/event.ts'
import type { EventLog } from '../../../ports/event-log.ts'
import { askThrough, type Ask } from './ask.ts'
import { asStoreFault } from './faults.ts'
import { Indexer } from './indexer.ts'
import {
  countByDomain,
  countEvents,
  readByDedupeKeys,
  readById,
  readByTime,
  readHead,
  readPage,
} from './reader.ts'
import { ensureSchema } from './schema.ts'
import { connect, connectionPool, disconnect, type Server } from './session.ts'
import { loadSnapshot, saveSnapshot } from './snapshots.ts'
import { verifyHashes } from './verify.ts'
import { Watcher } from './watcher.ts'
import { Writer } from './writer.ts'

export interface PostgresLogOptions {
  /** postgres:// or postgresql://, of the server itself or of a pooler that keeps sessions. */
  readonly url: string
  /** Besides these, one connection appends and one listens. */
  readonly readConnectionsMax?: number
  /** After this the server gives a statement up. */
  readonly statementTimeoutMs?: number
  /** How long fresh events may wait for others before they are indexed together. */
  readonly indexPauseMs?: number
}

const READ_CONNECTIONS_MAX = 8
const STATEMENT_TIMEOUT_MS = 15_000
const INDEX_PAUSE_MS = 50
/** Taken in within about a millisecond: everything else in the process waits that long. */
const SCAN_PAGE = 200

/** Opens the log and creates its tables if need be. Throws StoreUnavailableError if the server cannot be reached. */
export const openPostgresLog = async ({
  url,
  readConnectionsMax = READ_CONNECTIONS_MAX,
  statementTimeoutMs = STATEMENT_TIMEOUT_MS,
  indexPauseMs = INDEX_PAUSE_MS,
}: PostgresLogOptions): Promise<EventLog> => {
  if (!/^postgres(ql)?:\/\//.test(url))
    throw new Error('the address of a PostgreSQL log begins with postgres://')
  const server = { url, statementTimeoutMs }
  await createTables(server)
  const pool = connectionPool(server, readConnectionsMax)
  const ask = askThrough(pool)
  const writer = new Writer(server)
  const watcher = new Watcher(server)
  const indexer = new Indexer(ask, indexPauseMs)
  const close = async (): Promise<void> => {
    await Promise.all([writer.close(), watcher.close()])
    // After the last append, and while there are connections.
    await indexer.close()
    await pool.end()
  }
  let closing: Promise<void> | null = null
  return {
    kind: 'postgres',
    head: () => readHead(ask),
    append: async (records, expected) => {
      const result = await writer.append(records, expected)
      if (result.status === 'appended') indexer.stored(records)
      return result
    },
    read: (query) => readPage(ask, query),
    readByTime: (query) => readByTime(ask, query),
    count: (typePrefix) => countEvents(ask, typePrefix),
    countByDomain: () => countByDomain(ask),
    get: (id) => readById(ask, id),
    findByDedupeKeys: (keys) => readByDedupeKeys(ask, keys),
    saveSnapshot: (snapshot) => saveSnapshot(ask, snapshot),
    loadSnapshot: (stateVersion) => loadSnapshot(ask, stateVersion),
    watch: (onAppended) => watcher.watch(onAppended),
    scan: (range) => scan(ask, range),
    verifyHashes: (range) => verifyHashes(ask, range),
    sizeBytes: () => sizeBytes(ask),
    close: () => (closing ??= close()),
  }
}

const createTables = async (server: Server): Promise<void> => {
  const client = await connect(server, 'signal-engine schema')
  try {
    await ensureSchema(client)
  } catch (error) {
    throw asStoreFault(error)
  } finally {
    await disconnect(client)
  }
}

async function* scan(
  ask: Ask,
  { after, upTo }: { readonly after: number; readonly upTo: number },
): AsyncGenerator<readonly LogRecord[]> {
  let from = after
  for (;;) {
    const page = await readPage(ask, { after: from, before: upTo + 1, order: 'asc', limit: SCAN_PAGE })
    const last = page.at(-1)
    if (last === undefined) return
    yield page
    from = last.seq
  }
}

const sizeBytes = async (ask: Ask): Promise<number> => {
  const [row] = await ask<[number]>({ text: `SELECT pg_total_relation_size('events')`, values: [] })
  return row?.[0] ?? 0
}
