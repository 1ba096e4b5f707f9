import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openConfigurationStore } from '../../src/adapters/platform/config-file/configuration-store.ts'
import { createLogger } from '../../src/adapters/platform/logger/logger.ts'
import { environmentOf } from '../../src/compose/environment.ts'
import { openSharedRuns } from '../../src/compose/queued-backtests.ts'
import { postgresMissing, startPostgres, type PostgresServer } from './server.fixture.ts'
import { createWorkers, VERSION } from './workers.fixture.ts'

const LONG = { timeout: 180_000, interval: 200 }

describe.skipIf(postgresMissing !== null)(
  `a worker and a database that crashes (${postgresMissing ?? 'PostgreSQL'})`,
  { timeout: 400_000 },
  () => {
    const { newHome, startWorker, endWorkers, removeHomes } = createWorkers()
    let server: PostgresServer
    beforeAll(async () => {
      server = await startPostgres()
    })
    afterAll(async () => {
      await endWorkers()
      await removeHomes()
      await server.stop()
    })

    it('keeps what it has come to until the database is back', async () => {
      const url = await server.freshDatabase()
      const home = await newHome()
      const opened = await openConfigurationStore({ home, env: { SVC_STORE__URL: url } })
      if (opened.status === 'invalid') throw new Error(opened.problems.join('; '))
      const configuration = opened.store.current()
      const environment = environmentOf(home, { SVC_STORE__URL: url }, VERSION)
      const { clock } = environment
      const write = (): void => undefined
      const logger = createLogger({ level: 'ERROR', jsonOutput: true, secrets: [], clock, write })
      const options = { environment, configuration: () => configuration, logger, inMemory: false }
      const { queue, runs } = await openSharedRuns(options)
      const statusOf = async (id: string) => (await runs.get(id).catch(() => null))?.status
      try {
        // Long enough to be still under way when it is seen.
        const request = { strategy: 'hold', from: '2024-01-01T00:00:00Z', to: '2024-04-01T00:00:00Z' }
        const submitted = await runs.submit('backtest', request, { owner: 'token', isOperator: false })
        if (submitted.status !== 'accepted') throw new Error(JSON.stringify(submitted))
        const { id } = submitted.run
        const { said } = await startWorker(home, url)
        await expect.poll(() => statusOf(id), LONG).toBe('running')
        await server.kill()
        await expect.poll(() => said.join('\n'), LONG).toContain('could not store a result yet')
        await server.restart()
        await expect.poll(() => statusOf(id), LONG).toBe('done')
        expect((await runs.get(id))?.result).not.toBeNull()
      } finally {
        await runs.close()
        await queue.close()
      }
    })
  },
)
