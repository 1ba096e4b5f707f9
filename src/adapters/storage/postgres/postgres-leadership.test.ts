import { afterAll, beforeAll, describe } from 'vitest'
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

  leadershipContract('an advisory lock', () => Promise.resolve(postgresLeadership({ url })))
})
