import { Client } from 'pg'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openLine } from '../../../../test/postgres/line.fixture.ts'
import {
  postgresMissing,
  sharedPostgres,
  type PostgresServer,
} from '../../../../test/postgres/server.fixture.ts'
import { leadershipContract, REPLACED_WITHIN_MS } from '../../../ports/leadership.contract.ts'
import { createSystemTimer } from '../../platform/timer/system-timer.ts'
import { postgresLeadership } from './postgres-leadership.ts'
import { openPostgresLog } from './postgres-log.ts'

describe.skipIf(postgresMissing !== null)('leading on a PostgreSQL log', () => {
  let server: PostgresServer
  let url = ''
  beforeAll(async () => {
    server = await sharedPostgres()
  })
  beforeEach(async () => {
    url = await server.freshDatabase()
  })

  leadershipContract('a lease in the database', async (timer) => ({
    log: await openPostgresLog({ url }),
    leadership: postgresLeadership({ url, replacedWithinMs: REPLACED_WITHIN_MS, timer }),
  }))

  it('a lost connection does not end the lease: it is confirmed over a new one', async () => {
    const line = await openLine(url)
    const log = await openPostgresLog({ url })
    const options = { replacedWithinMs: 2000, timer: createSystemTimer() }
    const leadership = postgresLeadership({ url: line.url, ...options })
    const rival = postgresLeadership({ url, ...options })
    const lease = await leadership.tryToLead(0)
    expect(lease?.isValid()).toBe(true)
    const until = performance.now() + 4000
    while (performance.now() < until) {
      line.abandon()
      await new Promise((resolve) => setTimeout(resolve, 500))
      expect(await rival.tryToLead(0)).toBeNull()
    }
    expect(lease?.isValid()).toBe(true)
    await lease?.release()
    await Promise.all([leadership.close(), rival.close(), log.close()])
    await line.close()
  })

  it.each([
    ['a token of 2^53 - 1', "INSERT INTO leaders VALUES (9007199254740991, '')", { token: 2 ** 53 - 1 }],
    ['a token of 2^63 - 1', 'UPDATE lease SET token = 9223372036854775807', { token: 2 ** 63 }],
    ['a lease without end', "UPDATE lease SET expires_at = 'infinity'", { endsInMs: Infinity }],
    ['a lease that is gone', 'DELETE FROM lease', { endsInMs: Infinity }],
  ])('forgets %s when it is reset', async (_, statement, stored) => {
    const log = await openPostgresLog({ url })
    const options = { url, replacedWithinMs: REPLACED_WITHIN_MS, timer: createSystemTimer() }
    const leadership = postgresLeadership(options)
    await (await leadership.tryToLead(6))?.release()
    expect(await leadership.stored()).toEqual({ token: 7, endsInMs: -Infinity })
    const client = new Client(url)
    await client.connect()
    await client.query(statement)
    await client.end()
    expect(await leadership.stored()).toMatchObject(stored)
    await leadership.reset(7)
    expect(await leadership.stored()).toEqual({ token: 7, endsInMs: -Infinity })
    const lease = await leadership.tryToLead(7)
    expect(lease?.token).toBe(8)
    await lease?.release()
    await leadership.close()
    await log.close()
  })
})
