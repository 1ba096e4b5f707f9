import type { LogRecord } from '../../../core/log/event.ts'
import { countIn, type EventLog } from '../../../ports/event-log.ts'
import { connect, connectionPool, disconnect, type Server } from './connection.ts'
import { derivedOf } from './derived.ts'
import { asStoreError } from './errors.ts'
import {
  countByDomain,
  loadSnapshot,
  queryThrough,
  readByDedupeKeys,
  readById,
  readByTime,
  readHead,
  readPage,
  readTreeNodes,
  saveSnapshot,
  type Query,
} from './records.ts'
import { ensureSchema } from './schema.ts'
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
}

const READ_CONNECTIONS_MAX = 8
const STATEMENT_TIMEOUT_MS = 15_000
/** Taken in within about a millisecond: everything else in the process waits that long. */
const SCAN_PAGE = 200

/** Opens the log and creates its tables if need be. Throws StoreUnavailableError if the server cannot be reached. */
export const openPostgresLog = async ({
  url,
  readConnectionsMax = READ_CONNECTIONS_MAX,
  statementTimeoutMs = STATEMENT_TIMEOUT_MS,
}: PostgresLogOptions): Promise<EventLog> => {
  if (!/^postgres(ql)?:\/\//.test(url))
    throw new Error('the address of a PostgreSQL log begins with postgres://')
  const server = { url, statementTimeoutMs }
  await createTables(server)
  const pool = connectionPool(server, readConnectionsMax)
  const query = queryThrough(pool)
  const writer = new Writer(server)
  const watcher = new Watcher(server)
  const close = async (): Promise<void> => {
    await Promise.all([writer.close(), watcher.close()])
    await pool.end()
  }
  let closing: Promise<void> | null = null
  return {
    kind: 'postgres',
    derived: derivedOf(server, pool),
    head: () => readHead(query),
    append: (records, expected, leaderToken = null) => writer.append(records, expected, leaderToken),
    read: (request) => readPage(query, request),
    readByTime: (request) => readByTime(query, request),
    count: async (typePrefix) =>
      typePrefix === undefined
        ? (await readHead(query)).seq
        : countIn(await countByDomain(query), typePrefix),
    countByDomain: () => countByDomain(query),
    get: (id) => readById(query, id),
    findByDedupeKeys: (keys) => readByDedupeKeys(query, keys),
    saveSnapshot: (snapshot) => saveSnapshot(query, snapshot),
    loadSnapshot: (stateVersion, signer) => loadSnapshot(query, stateVersion, signer),
    watch: (onAppended) => watcher.watch(onAppended),
    scan: (range) => scan(query, range),
    verifyHashes: (range) => verifyHashes(query, range),
    treeNodes: (range) => readTreeNodes(query, range),
    sizeBytes: () => sizeBytes(query),
    close: () => (closing ??= close()),
  }
}

const createTables = async (server: Server): Promise<void> => {
  const client = await connect(server, 'signal-engine schema')
  try {
    await ensureSchema(client)
  } catch (error) {
    throw asStoreError(error)
  } finally {
    await disconnect(client)
  }
}

async function* scan(
  query: Query,
  { after, upTo }: { readonly after: number; readonly upTo: number },
): AsyncGenerator<readonly LogRecord[]> {
  let from = after
  for (;;) {
    const page = await readPage(query, { after: from, before: upTo + 1, order: 'asc', limit: SCAN_PAGE })
    const last = page.at(-1)
    if (last === undefined) return
    yield page
    from = last.seq
  }
}

const sizeBytes = async (query: Query): Promise<number> => {
  const [row] = await query<[number]>({ text: `SELECT pg_total_relation_size('events')`, values: [] })
  return row?.[0] ?? 0
}
