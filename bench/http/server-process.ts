import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createSystemClock } from '../../src/adapters/platform/clock/system-clock.ts'
import { createLogger } from '../../src/adapters/platform/logger/logger.ts'
import { openSqliteLog } from '../../src/adapters/storage/sqlite/sqlite-log.ts'
import { startService } from '../../src/compose/service.ts'
import { environmentOf } from '../../src/compose/environment.ts'
import { ok } from '../../src/surfaces/http/results.ts'
import type { Route } from '../../src/surfaces/http/route.ts'
import { ROUTES } from '../../src/surfaces/http/routes/all.ts'
import {
  startTestServer,
  TOKEN,
  type TestServerOptions,
} from '../../src/surfaces/http/test-server.fixture.ts'

/** Kinds of servers that run in a process of their own. */
export type Kind =
  /** The service as in production, with a store in a home folder. */
  | 'service'
  /** Route for submissions that validates everything and stores nothing. */
  | 'storeless'
  /** HTTP server of the service over a file of events. */
  | 'events'

export type ServerAsk = 'measure-delay' | 'tell-delay'

export type ServerReport =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'delay'; readonly p99Ms: number }

interface Server {
  readonly port: number
  close(): Promise<void>
}

const serve = async (kind: Kind, path: string): Promise<Server> => {
  switch (kind) {
    case 'service': {
      const variables = { SVC_DEV_MODE: '1', SVC_API__AUTH_TOKEN: TOKEN, SVC_LOGGING__LEVEL: 'ERROR' }
      const environment = environmentOf(path, variables, 'bench')
      const service = await startService(environment, {
        host: '127.0.0.1',
        port: 0,

        dashboard: false,
        inMemory: false,
      })
      return { port: Number(new URL(service.baseUrl).port), close: () => service.close() }
    }
    case 'storeless':
      return startTestServer({ ...asOperated(), routes: [storelessSubmit()] })
    case 'events':
      return startTestServer({ ...asOperated(), log: await openSqliteLog({ path }) })
  }
}

/** Options without the test server's additions, and with the service's own parts. */
const asOperated = (): TestServerOptions => {
  const clock = createSystemClock()
  const logger = createLogger({ level: 'ERROR', jsonOutput: false, secrets: [], clock })
  return { checkResponses: false, dependencies: { clock, logger } }
}

const storelessSubmit = (): Route => {
  const route = ROUTES.find(({ operationId }) => operationId === 'submitSignal')
  if (route === undefined) throw new Error('there is no route for submissions')
  const clock = createSystemClock()
  // Marked as unchanged, because a request that stores nothing is not audited.
  const handler: Route['handler'] = () =>
    Promise.resolve(ok({ event_id: clock.newId(), contributor_id: clock.newId() }, { unchanged: true }))
  return { ...route, handler }
}

const report = (reported: ServerReport): void => {
  process.send?.(reported)
}

let delay = monitorEventLoopDelay({ resolution: 1 })
process.on('message', (ask: ServerAsk) => {
  switch (ask) {
    case 'measure-delay':
      delay = monitorEventLoopDelay({ resolution: 1 })
      delay.enable()
      return
    case 'tell-delay':
      delay.disable()
      return report({ kind: 'delay', p99Ms: delay.percentile(99) / 1e6 })
  }
})

const [kind = 'service', path = ''] = process.argv.slice(2) as [Kind?, string?]
const server = await serve(kind, path)
// The parent disconnects when the bench fails, too, so no process is left behind.
process.on('disconnect', () => {
  server
    .close()
    .finally(() => process.exit())
    .catch((error: unknown) => {
      throw error
    })
})
report({ kind: 'listening', port: server.port })
