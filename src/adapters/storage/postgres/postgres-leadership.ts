import { randomUUID } from 'node:crypto'
import type { LeaseRecord, Leadership } from '../../../ports/leadership.ts'
import type { Timer } from '../../../ports/timer.ts'
import { keepLease, readClocks, validMsOf } from '../../lease.ts'
import { connect, ConnectionKeeper } from './connection.ts'
import { asStoreError } from './errors.ts'

export interface PostgresLeadershipOptions {
  readonly url: string
  /** Time within which a leader that stands still is replaced. */
  readonly replacedWithinMs: number
  readonly timer: Timer
}

/** Leadership by a row of the database with a heartbeat. Only the clock of the server decides when it has expired. */
export const postgresLeadership = ({
  url,
  replacedWithinMs,
  timer,
}: PostgresLeadershipOptions): Leadership & LeaseRecord => {
  const validMs = validMsOf(replacedWithinMs)
  // A heartbeat that takes longer than the lease is useless.
  const server = { url, statementTimeoutMs: Math.ceil(validMs), answerGraceMs: Math.ceil(validMs / 4) }
  const keeper = new ConnectionKeeper((onLost) => connect(server, 'signal-engine leader', onLost))
  const rowsOf = async <Row extends object>(
    text: string,
    values: readonly unknown[],
  ): Promise<readonly Row[]> => {
    try {
      return (await (await keeper.get()).query<Row>(text, [...values])).rows
    } catch (error) {
      throw asStoreError(error)
    }
  }
  const changedRows = (text: string, values: readonly unknown[]): Promise<readonly { token: string }[]> =>
    rowsOf(text, values)
  return {
    tryToLead: async (above) => {
      const takenAt = readClocks()
      const holder = randomUUID()
      const [taken] = await changedRows(TAKE, [holder, validMs, above])
      if (taken === undefined) return null
      const { token } = taken
      return keepLease({
        token: Number(token),
        takenAt,
        validMs,
        timer,
        renew: async () => (await changedRows(RENEW, [token, holder, validMs])).length === 1,
        giveUp: async () => void (await changedRows(GIVE_UP, [token, holder])),
      })
    },
    stored: async () => {
      const [row] = await rowsOf<{ token: number; ends_in_ms: number | null }>(STORED, [])
      return { token: row?.token ?? 0, endsInMs: row?.ends_in_ms ?? Number.POSITIVE_INFINITY }
    },
    reset: async (token) => {
      await rowsOf(RESET, [token])
    },
    close: () => keeper.close(),
  }
}

// If two processes try at once, the second waits for the row, and then sees that the lease is taken.
const TAKE = `
WITH taken AS (
  UPDATE lease SET token = greatest(token, $3::bigint) + 1, holder = $1,
    expires_at = clock_timestamp() + $2 * interval '1 millisecond'
  WHERE expires_at <= clock_timestamp() RETURNING token
)
INSERT INTO leaders (token, holder) SELECT token, $1 FROM taken RETURNING token`

// An expired lease is renewed too: no other process has led while none took it.
const RENEW = `
UPDATE lease SET expires_at = clock_timestamp() + $3 * interval '1 millisecond'
WHERE token = $1 AND holder = $2 RETURNING token`

const GIVE_UP = `UPDATE lease SET expires_at = '-infinity' WHERE token = $1 AND holder = $2 RETURNING token`

// Without its row the lease can never be taken. `ends_in_ms` is null then.
const STORED = `
SELECT greatest((SELECT max(token) FROM leaders), (SELECT max(token) FROM lease), 0)::float8 AS token,
  (SELECT (extract(epoch FROM expires_at) - extract(epoch FROM clock_timestamp()))::float8 * 1000 FROM lease) AS ends_in_ms`

const RESET = `
WITH removed AS (DELETE FROM leaders WHERE token > $1::bigint)
INSERT INTO lease (token, holder, expires_at) VALUES ($1::bigint, '', '-infinity')
ON CONFLICT (one) DO UPDATE SET token = excluded.token, holder = excluded.holder, expires_at = excluded.expires_at`
