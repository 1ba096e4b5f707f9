import type { Leadership } from '../../../ports/leadership.ts'
import { connect, disconnect } from './connection.ts'

/** One number for all who lead on a database. */
const LOCK = 7_217_190_452
const STATEMENT_TIMEOUT_MS = 5000

/** A lock of the server that lives as long as its connection: a process that is gone, or cut off, leads no more. */
export const postgresLeadership = ({ url }: { readonly url: string }): Leadership => ({
  tryToLead: async () => {
    const over = new AbortController()
    const ended = new Promise<void>((resolve) => {
      over.signal.addEventListener('abort', () => resolve())
    })
    const server = { url, statementTimeoutMs: STATEMENT_TIMEOUT_MS }
    const client = await connect(server, 'signal-engine leader', () => over.abort())
    const { rows } = await client.query<{ leads: boolean }>(
      `SELECT pg_try_advisory_lock(${LOCK}::bigint) AS leads`,
    )
    if (rows[0]?.leads !== true) {
      await disconnect(client)
      return null
    }
    return {
      ended,
      release: async () => {
        await disconnect(client)
        over.abort()
      },
    }
  },
})
