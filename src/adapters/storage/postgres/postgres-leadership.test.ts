import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  postgresMissing,
  startPostgres,
  type PostgresServer,
} from '../../../../test/postgres/server.fixture.ts'
import { leadershipContract } from '../../../ports/leadership.contract.ts'
import { postgresLeadership } from './postgres-leadership.ts'

describe.skipIf(postgresMissing !== null)('leading on a PostgreSQL log', () => {
  let server: PostgresServer
  let url = ''
  beforeAll(async () => {
    server = await startPostgres({ fsync: 'off' })
    url = await server.freshDatabase()
  })
  afterAll(() => server?.stop())

  it('hears that it lost its connection, and another leads', async () => {
    const lease = await postgresLeadership({ url }).tryToLead()
    expect(lease).not.toBeNull()
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE application_name = 'signal-engine leader' AND datname = current_database()`,
    )
    await client.end()
    const noticed = lease?.ended.then(() => 'noticed')
    expect(await Promise.race([noticed, sleep(5000, 'not noticed')])).toBe('noticed')
    const next = await postgresLeadership({ url }).tryToLead()
    expect(next).not.toBeNull()
    await next?.release()
  })

  leadershipContract('an advisory lock', () => Promise.resolve(postgresLeadership({ url })))
})
