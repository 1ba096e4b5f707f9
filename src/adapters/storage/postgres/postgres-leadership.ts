import { randomUUID } from 'node:crypto'
import type { Leadership } from '../../../ports/leadership.ts'
import type { Timer } from '../../../ports/timer.ts'
import { keepLease, readClocks, validMsOf } from '../../lease.ts'
import { connect, ConnectionKeeper } from './connection.ts'
import { asStoreError } from './errors.ts'

export interface PostgresLeadershipOptions {
  readonly url: string
  /** A leader that stands still is replaced within this time. */
  readonly replacedWithinMs: number
  readonly timer: Timer
}

/** A row of the database with a heartbeat. Only the clock of the server decides when it has run out. */
export const postgresLeadership = ({
  url,
  replacedWithinMs,
  timer,
}: PostgresLeadershipOptions): Leadership => {
  const validMs = validMsOf(replacedWithinMs)
  // A heartbeat that takes longer than the lease has missed its purpose.
  const server = { url, statementTimeoutMs: Math.ceil(validMs), answerGraceMs: Math.ceil(validMs / 4) }
  const keeper = new ConnectionKeeper((onLost) => connect(server, 'signal-engine leader', onLost))
  const changedRows = async (
    text: string,
    values: readonly unknown[],
  ): Promise<readonly { token: string }[]> => {
    try {
      return (await (await keeper.get()).query<{ token: string }>(text, [...values])).rows
    } catch (error) {
      throw asStoreError(error)
    }
  }
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
    close: () => keeper.close(),
  }
}

// Of two who try at once the second waits for the row, and then sees that the lease is taken.
const TAKE = `
WITH taken AS (
  UPDATE lease SET token = greatest(token, $3::bigint) + 1, holder = $1,
    expires_at = clock_timestamp() + $2 * interval '1 millisecond'
  WHERE expires_at <= clock_timestamp() RETURNING token
)
INSERT INTO leaders (token, holder) SELECT token, $1 FROM taken RETURNING token`

// Also after it has run out: as long as nobody took it, nobody else has led.
const RENEW = `
UPDATE lease SET expires_at = clock_timestamp() + $3 * interval '1 millisecond'
WHERE token = $1 AND holder = $2 RETURNING token`

const GIVE_UP = `UPDATE lease SET expires_at = '-infinity' WHERE token = $1 AND holder = $2 RETURNING token`
