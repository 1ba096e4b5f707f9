import { afterAll, describe } from 'vitest'
import { isFull } from '../generated.fixture.ts'
import { postgresMissing, sharedPostgres } from '../postgres/server.fixture.ts'
import { cleanUp, type Variables } from './service.ts'

type Tests = (store: () => Promise<Variables>) => void

/** Runs tests that depend on the store on every store that keeps something. */
export const onEveryStore = (what: string, tests: Tests): void => {
  onSqlite(what, tests)
  onPostgres(what, tests)
}

/**
 * Runs tests that do not depend on the store on SQLite. The contract suite of the log proves that the stores behave alike;
 * `npm test -- --full` runs these tests on PostgreSQL, too.
 */
export const onDefaultStore = (what: string, tests: Tests): void => {
  onSqlite(what, tests)
  if (isFull) onPostgres(what, tests)
}

const onSqlite = (what: string, tests: Tests): void => {
  describe(`${what}, on SQLite`, () => {
    afterAll(cleanUp)
    tests(() => Promise.resolve({}))
  })
}

/** Runs tests on PostgreSQL alone. */
export const onPostgres = (what: string, tests: Tests): void => {
  describe.skipIf(postgresMissing !== null)(`${what}, on PostgreSQL${postgresMissing ?? ''}`, () => {
    afterAll(cleanUp)
    tests(async () => ({ SVC_STORE__URL: await (await sharedPostgres()).freshDatabase() }))
  })
}
