import { afterAll, describe } from 'vitest'
import { postgresMissing, sharedPostgres } from '../postgres/server.fixture.ts'
import { cleanUp, type Variables } from './service.ts'

/** Runs the same black-box tests on every store that keeps something. */
export const onEveryStore = (what: string, tests: (store: () => Promise<Variables>) => void): void => {
  describe(`${what}, on SQLite`, () => {
    afterAll(cleanUp)
    tests(() => Promise.resolve({}))
  })
  describe.skipIf(postgresMissing !== null)(`${what}, on PostgreSQL${postgresMissing ?? ''}`, () => {
    afterAll(cleanUp)
    tests(async () => ({ SVC_STORE__URL: await (await sharedPostgres()).freshDatabase() }))
  })
}
