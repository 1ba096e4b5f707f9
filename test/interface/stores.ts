import { afterAll, beforeAll, describe } from 'vitest'
import { postgresMissing, startPostgres, type PostgresServer } from '../postgres/server.ts'
import { cleanUp, type Variables } from './service.ts'

/** Runs the same black-box tests on every store that keeps something. */
export const onEveryStore = (what: string, tests: (store: () => Promise<Variables>) => void): void => {
  describe(`${what}, on SQLite`, () => {
    afterAll(cleanUp)
    tests(() => Promise.resolve({}))
  })
  describe.skipIf(postgresMissing !== null)(`${what}, on PostgreSQL${postgresMissing ?? ''}`, () => {
    let server: PostgresServer
    beforeAll(async () => {
      server = await startPostgres()
    })
    afterAll(async () => {
      await cleanUp()
      await server.stop()
    })
    tests(async () => ({ SVC_STORE__URL: await server.freshDatabase() }))
  })
}
