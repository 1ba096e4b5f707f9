import type { Client } from 'pg'
import {
  TargetInUseError,
  TargetTakenError,
  type TargetContent,
  type LogDraft,
  type LogTarget,
} from '../../../ports/log-target.ts'
import { appendStatement } from './append-statement.ts'
import { connect, disconnect } from './connection.ts'
import { asStoreError } from './errors.ts'
import { queryOn, readHead, readTreeNodes } from './records.ts'
import { createTables, hasTables, moveTables } from './schema.ts'

/** Checking a tree and moving tables take longer than what a running service asks for. */
const STATEMENT_TIMEOUT_MS = 120_000
const NAME = 'signal-engine copy'

/** A database as the place for a copy of a log: one transaction, so all of it is there at once or nothing. */
export const postgresTarget = ({ url }: { readonly url: string }): LogTarget => {
  const open = (): Promise<Client> => connect({ url, statementTimeoutMs: STATEMENT_TIMEOUT_MS }, NAME)
  return {
    look: async () => {
      const client = await open()
      try {
        return await look(client)
      } catch (error) {
        throw isAboutTarget(error) ? error : asStoreError(error)
      } finally {
        await disconnect(client)
      }
    },
    draft: async (options) => {
      const client = await open()
      try {
        await client.query('BEGIN')
        return await openDraft(client, options)
      } catch (error) {
        await disconnect(client)
        throw isAboutTarget(error) ? error : asStoreError(error)
      }
    },
  }
}

const isAboutTarget = (error: unknown): boolean =>
  error instanceof TargetTakenError || error instanceof TargetInUseError

const look = async (client: Client): Promise<TargetContent> => {
  if (!(await hasTables(client))) return { status: 'empty' }
  const query = queryOn(client)
  const head = await readHead(query)
  // The format may be an older one, so this reads no column that a later one has added.
  const [first] = (await client.query<{ hash: string }>(FIRST_HASH)).rows
  if (first === undefined) return { status: 'empty' }
  const { rows } = await client.query<{ n: string }>(
    `SELECT count(*) AS n FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'signal-engine %'`,
  )
  if (Number(rows[0]?.n) > 0) throw new TargetInUseError('other processes are connected to the database')
  return { status: 'log', head, firstHash: first.hash }
}

const FIRST_HASH = `SELECT encode(hash, 'hex') AS hash FROM events ORDER BY seq LIMIT 1`

const openDraft = async (
  client: Client,
  { replace, at }: { readonly replace: boolean; readonly at: string },
): Promise<LogDraft> => {
  const found = await look(client)
  if (found.status !== 'empty' && !replace)
    throw new TargetTakenError('the database already holds a log that is not empty')
  const kept = `log_replaced_${at.replaceAll(/[^0-9A-Za-z]/g, '').toLowerCase()}`
  const replaced = found.status === 'empty' ? null : kept
  // Up to date, then aside.
  await createTables(client)
  if (replaced !== null) await moveTables(client, replaced)
  await createTables(client)
  // No token is given twice, whatever events are lost.
  if (replaced !== null) {
    await client.query(`INSERT INTO leaders SELECT * FROM ${replaced}.leaders`)
    await client.query('UPDATE lease SET token = (SELECT coalesce(max(token), 0) FROM leaders)')
  }
  const query = queryOn(client)
  let isOver = false
  const end = async (word: 'COMMIT' | 'ROLLBACK'): Promise<void> => {
    isOver = true
    try {
      await client.query(word)
    } catch (error) {
      throw asStoreError(error)
    } finally {
      await disconnect(client)
    }
  }
  return {
    append: async (records, expected) => {
      try {
        const { rowCount } = await client.query(appendStatement(records, expected, null))
        if (rowCount !== 1) throw new TargetTakenError('another process has begun a log in the database')
      } catch (error) {
        throw isAboutTarget(error) ? error : asStoreError(error)
      }
    },
    head: () => readHead(query),
    treeNodes: (range) => readTreeNodes(query, range),
    install: async () => {
      await end('COMMIT')
      return { replaced: replaced === null ? null : `the schema ${replaced} of the database` }
    },
    discard: async () => {
      // The end of the connection rolls back as well.
      if (!isOver) await end('ROLLBACK').catch(() => undefined)
    },
  }
}
