import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, QueryConfig, QueryResult } from 'pg'
import type { Head, LogRecord } from '../../../core/log/event.ts'
import { assertLinked, SEQ_MAX, StoreUnavailableError, type AppendResult } from '../../../ports/event-log.ts'
import { appendStatement } from './append-statement.ts'
import { connect, ConnectionKeeper, type Server } from './connection.ts'
import { asStoreError, isRefusedStatement, isUniqueViolation, LogClosedError, unavailable } from './errors.ts'

const APPENDS_WAITING_MAX = 1_000
const CLEAR_UP_TIMEOUT_MS = 10_000
const CLEAR_UP_PAUSE_MS = 20
const TERMINATE_TIMEOUT_MS = 5_000

/** The only connection that appends. Statements leave in the order of the calls, without waiting for answers. */
export class Writer {
  readonly #keeper: ConnectionKeeper
  #lastSent: Promise<unknown> = Promise.resolve()
  #waiting = 0

  constructor(server: Server) {
    const name = `signal-engine writer ${randomUUID()}`
    this.#keeper = new ConnectionKeeper(async (onLost) => {
      const client = await connect(server, name, onLost)
      await assertPrimary(client)
      await endPredecessors(client, name)
      return client
    })
  }

  async append(
    records: readonly LogRecord[],
    expected: Head,
    leaderToken: number | null,
  ): Promise<AppendResult> {
    assertLinked(records, expected)
    if (this.#waiting >= APPENDS_WAITING_MAX) throw new StoreUnavailableError('too many appends are waiting')
    this.#waiting += 1
    try {
      const last = records.at(-1)
      if (last === undefined) return await this.#compare(expected)
      return await this.#store(appendStatement(records, expected, leaderToken), expected, last)
    } finally {
      this.#waiting -= 1
    }
  }

  async close(): Promise<void> {
    await this.#lastSent
    await this.#keeper.close()
  }

  /** Without records there is nothing to store, but the head must still be where it is expected. */
  async #compare(expected: Head): Promise<AppendResult> {
    const { answer } = await this.#send(isHeadStatement(expected))
    try {
      return (await answer).rowCount === 1 ? { status: 'appended' } : { status: 'head-moved' }
    } catch (error) {
      throw asStoreError(error)
    }
  }

  async #store(statement: QueryConfig, expected: Head, last: LogRecord): Promise<AppendResult> {
    const { client, answer } = await this.#send(statement)
    try {
      const [row] = (await answer).rows as readonly { readonly outcome: string }[]
      if (row === undefined) return { status: 'head-moved' }
      return { status: row.outcome === 'fenced' ? 'fenced' : 'appended' }
    } catch (error) {
      if (!isRefusedStatement(error)) return this.#clearUp(last, error)
      // Another process may hold the id or the dedupe key; then it also moved the head.
      if (isUniqueViolation(error) && !(await isHead(client, expected))) return { status: 'head-moved' }
      throw asStoreError(error)
    }
  }

  /** In the order of the calls. Wrapped, since a promise of the answer itself would be waited for. */
  async #send(
    statement: QueryConfig,
  ): Promise<{ readonly client: Client; readonly answer: Promise<QueryResult> }> {
    const sent = this.#lastSent.then(async () => {
      const client = await this.#keeper.get()
      return { client, answer: client.query(statement) }
    })
    // The next append needs its turn, not this outcome.
    this.#lastSent = sent.catch(() => undefined)
    return sent
  }

  /** The connection was lost before the answer came: only the log itself knows whether the batch is in it. */
  async #clearUp(last: LogRecord, lost: unknown): Promise<AppendResult> {
    const deadline = Date.now() + CLEAR_UP_TIMEOUT_MS
    while (Date.now() < deadline) {
      const found = await this.#find(last)
      if (found === 'stored') return { status: 'appended' }
      if (found === 'absent') throw unavailable('nothing was stored, the connection was lost', lost)
      await sleep(Math.max(CLEAR_UP_PAUSE_MS, this.#keeper.pauseMs))
    }
    throw unavailable('the connection was lost and it is unknown whether the batch was stored', lost)
  }

  async #find({ seq, hash }: LogRecord): Promise<'stored' | 'absent' | 'unknown'> {
    try {
      const client = await this.#keeper.get()
      const { rowCount } = await client.query(IS_STORED, [seq, Buffer.from(hash, 'hex')])
      return rowCount === 1 ? 'stored' : 'absent'
    } catch (error) {
      const fault = asStoreError(error)
      if (fault instanceof LogClosedError || !(fault instanceof StoreUnavailableError)) throw fault
      return 'unknown'
    }
  }
}

const IS_STORED = 'SELECT 1 FROM events WHERE seq = $1 AND hash = $2'

/**
 * A standby accepts no writes, and may not have received yet what the primary has stored. After a lost answer, a writer
 * that reads from it would find a stored batch missing. A primary cannot become a standby while a connection is open.
 */
const assertPrimary = async (client: Client): Promise<void> => {
  try {
    const { rows } = await client.query<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby')
    if (rows[0]?.standby === false) return
    throw new StoreUnavailableError('the PostgreSQL server is a standby, which takes no writes')
  } catch (error) {
    client.connection.stream.destroy()
    throw asStoreError(error)
  }
}

/**
 * The server may still be at work for a connection that we have given up. It must be over before anyone asks
 * what was stored, or a batch that we called lost could appear later.
 */
const endPredecessors = async (client: Client, name: string): Promise<void> => {
  try {
    const { rows } = await client.query<{ ended: boolean }>(
      `SELECT pg_terminate_backend(pid, ${TERMINATE_TIMEOUT_MS}) AS ended
       FROM pg_stat_activity WHERE application_name = $1 AND pid <> pg_backend_pid()`,
      [name],
    )
    if (rows.every(({ ended }) => ended)) return
    throw new StoreUnavailableError('an earlier connection is still at work on the server')
  } catch (error) {
    client.connection.stream.destroy()
    throw asStoreError(error)
  }
}

const isHeadStatement = ({ seq, hash }: Head): QueryConfig => ({
  name: 'is-head',
  text: `SELECT 1 WHERE coalesce((SELECT max(seq) FROM events WHERE seq <= ${SEQ_MAX}), 0) = $1
         AND coalesce((SELECT hash FROM events WHERE seq = $1), '') = $2`,
  values: [seq, Buffer.from(hash, 'hex')],
})

const isHead = async (client: Client, head: Head): Promise<boolean> => {
  try {
    return (await client.query(isHeadStatement(head))).rowCount === 1
  } catch (error) {
    throw asStoreError(error)
  }
}
