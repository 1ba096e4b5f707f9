import { openConfigurationStore } from '../adapters/platform/config-file/configuration-store.ts'
import { createLogger } from '../adapters/platform/logger/logger.ts'
import { createSystemTimer } from '../adapters/platform/timer/system-timer.ts'
import { recentCheck } from '../engine/integrity/recent-check.ts'
import { verifyLog } from '../engine/integrity/verify.ts'
import type { Engine } from '../engine/engine.ts'
import type { ConfigurationStore } from '../ports/config-file.ts'
import type { Logger } from '../ports/logger.ts'
import type { IntegrityCheck } from '../surfaces/http/dependencies.ts'
import { createHttpServer } from '../surfaces/http/server.ts'
import { createMcpEndpoint } from '../surfaces/mcp/endpoint.ts'
import { opening } from './closers.ts'
import { openDashboard } from './dashboard.ts'
import { openDrivers, type Drivers } from './drivers.ts'
import { openRunningEngine } from './running-engine.ts'
import { knownSecretsOf } from './secrets.ts'
import { openMemoryStore, openStore } from './store.ts'
import type { Environment } from './environment.ts'

/** What the command line says instead of the configuration; null = as configured. */
export interface ServiceRequest {
  readonly host: string | null
  readonly port: number | null
  readonly dashboardPort: number | null
  /** False = without it, whatever is configured. */
  readonly dashboard: boolean
  /** Keep the log in memory and forget it at the end. */
  readonly inMemory: boolean
}

export interface Service {
  /** With the path prefix. */
  readonly baseUrl: string
  /** Null when the dashboard is off or its port was taken. */
  readonly dashboardUrl: string | null
  close(): Promise<void>
}

/** The service may not start like this. The message says why and what to set; nothing was opened. */
export class StartRefusedError extends Error {
  override readonly name = 'StartRefusedError'
}

/** Configuration, identity, store, engine, HTTP, dashboard: in this order, and closed in the other. */
export const startService = (
  surroundings: Environment,
  { host, port, dashboardPort, dashboard, inMemory }: ServiceRequest,
): Promise<Service> =>
  opening(async (closers) => {
    const { clock, insecureOk, version } = surroundings
    const startedAtMs = clock.now()
    const { store: configuration, warnings } = await openConfiguration(surroundings)
    const current = configuration.current()
    const { logger, hide } = openLogger(surroundings, configuration)
    for (const warning of warnings) logger.warn(warning)

    const store = inMemory ? openMemoryStore() : await openStore(surroundings, current)
    closers.add(() => store.log.close())
    const running = await openRunningEngine({
      surroundings,
      configuration: current,
      settings: () => configuration.current(),
      store,
      logger,
      announce: 'always',
    })
    closers.add(() => running.close())
    const { engine, signatures, signer } = running
    reloadOnForeignChange(engine, configuration, logger, insecureOk)

    const { log, checkpoints } = store
    const verify: IntegrityCheck['verify'] = (request, onProgress) =>
      verifyLog(log, {
        ...request,
        checkpoints,
        signatures,
        clock,
        ...(onProgress === undefined ? {} : { onProgress }),
      })
    const mcp = createMcpEndpoint({
      engine,
      configuration: () => configuration.current(),
      recentChainOk: recentCheck(verify, clock),
      logger,
      clock,
      version,
    })
    let drivers: Drivers | null = null
    const server = await createHttpServer({
      engine,
      feedStatus: () => drivers?.feedStatus() ?? null,
      configuration,
      integrity: { verify },
      mcp,
      logger,
      clock,
      version,
      startedAtMs,
      insecureOk,
      chainOk: running.integrity.ok,
    })
    closers.add(() => server.close())
    const { baseUrl } = await server.listen({
      host: host ?? current.api.host,
      port: port ?? current.api.port,
    })
    const opened =
      dashboard && current.dashboard.enabled
        ? await openDashboard({
            surroundings,
            configuration,
            signer,
            logger,
            apiUrl: baseUrl,
            port: dashboardPort,
          })
        : DASHBOARD_OFF
    if (opened.status === 'open') closers.add(() => opened.server.close())
    // Last, so that a market which needs a while is no reason to be silent.
    const driving = await openDrivers({
      surroundings,
      engine,
      configuration: () => configuration.current(),
      logger,
      timer: createSystemTimer(),
      leadership: store.leadership,
      onSecrets: hide,
    })
    drivers = driving
    closers.add(() => driving.close())
    const dashboardUrl = opened.status === 'open' ? opened.url : null
    return { baseUrl, dashboardUrl, close: () => closers.closeAll() }
  })

const DASHBOARD_OFF = { status: 'off' } as const

const openConfiguration = async ({
  home,
  environment,
  insecureOk,
}: Environment): Promise<OpenedConfiguration> => {
  const opened = await openConfigurationStore({ home, env: environment })
  if (opened.status === 'invalid') {
    throw new StartRefusedError(`the configuration is invalid:\n${opened.problems.join('\n')}`)
  }
  if (opened.store.current().api.auth_token.trim() === '' && !insecureOk) {
    throw new StartRefusedError(
      'SECURITY ERROR: API auth token is empty. Set api.auth_token in config/user.yaml or SVC_API__AUTH_TOKEN. ' +
        'SVC_INSECURE_OK=1 allows an empty one, for development and tests only.',
    )
  }
  return opened
}

interface OpenedConfiguration {
  readonly store: ConfigurationStore
  readonly warnings: readonly string[]
}

/** Follows the configuration: level, form, and what must never be shown. */
const openLogger = (surroundings: Environment, configuration: ConfigurationStore): OpenedLogger => {
  let keys: readonly string[] = []
  const current = configuration.current()
  const logger = createLogger({
    level: current.logging.level,
    jsonOutput: current.logging.json_output,
    secrets: knownSecretsOf(surroundings, current),
    clock: surroundings.clock,
  })
  configuration.onChange((changed) => {
    logger.setLevel(changed.logging.level)
    logger.setJsonOutput(changed.logging.json_output)
    logger.setSecrets([...keys, ...knownSecretsOf(surroundings, changed)])
  })
  return {
    logger,
    hide: (secrets) => {
      keys = secrets
      logger.setSecrets([...keys, ...knownSecretsOf(surroundings, configuration.current())])
    },
  }
}

interface OpenedLogger {
  readonly logger: Logger
  readonly hide: (secrets: readonly string[]) => void
}

/** `svc config set` writes the file and says so in the log; the running service takes it over. */
const reloadOnForeignChange = (
  engine: Engine,
  configuration: ConfigurationStore,
  logger: Logger,
  insecureOk: boolean,
): void => {
  engine.feed.subscribe(({ events }) => {
    if (!events.some(({ type, source }) => type === 'system.config_changed.v1' && source === 'cli')) return
    configuration
      .reload({ insecureOk })
      .then((result) => {
        if (result.status !== 'accepted')
          logger.warn('the changed configuration is invalid; the running one stays')
      })
      .catch((error: unknown) => logger.error('the configuration could not be read again', { error }))
  })
}
