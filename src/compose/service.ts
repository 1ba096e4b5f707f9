import { openConfigurationStore } from '../adapters/platform/config-file/configuration-store.ts'
import { createLogger } from '../adapters/platform/logger/logger.ts'
import { createSystemTimer } from '../adapters/platform/timer/system-timer.ts'
import { recentCheck } from '../engine/integrity/recent-check.ts'
import { verifyLog } from '../engine/integrity/verify.ts'
import type { Engine } from '../engine/engine.ts'
import type { Configuration } from '../core/config/schema.ts'
import type { ConfigurationStore } from '../ports/config-file.ts'
import type { Logger } from '../ports/logger.ts'
import type { IntegrityCheck } from '../surfaces/http/dependencies.ts'
import { probeRoutes } from '../surfaces/http/routes/service.ts'
import { createHttpServer } from '../surfaces/http/server.ts'
import { createMcpEndpoint } from '../surfaces/mcp/endpoint.ts'
import { logActivity } from '../surfaces/cli/activity.ts'
import { openBacktests } from './backtests.ts'
import { openClockMonitor } from './clock.ts'
import type { Drivers } from './drivers.ts'
import { openRunningEngine } from './running-engine.ts'
import { openReplay, ReplayRefusedError } from './replay.ts'
import { removeServiceFile, writeServiceFile, type ServiceEntry } from './service-file.ts'
import { openMemoryStore, openStore } from './store.ts'
import { openCodeWarning } from './strategies.ts'
import { Failure } from '../surfaces/cli/failure.ts'
import type { RunningService, ServiceOptions } from '../surfaces/cli/dependencies.ts'
import { knownSecretsOf, opening, type Environment } from './environment.ts'

/** A running service that can be stopped. */
export type Service = Omit<RunningService, 'stopped'> & {
  /** `drains`: gives a load balancer time to notice before requests are refused. */
  close(options?: { readonly drains: boolean }): Promise<void>
}

/** Opens configuration, identity, store, engine, HTTP and dashboard in this order, and closes them in reverse. */
export const startService = (
  environment: Environment,
  { host, port, dashboardPort, dashboard, inMemory = false, role = 'all' }: ServiceOptions,
): Promise<Service> =>
  opening(async (closers) => {
    const { clock, insecureOk, version } = environment
    const startedAtMs = clock.now()
    const { store: configuration, warnings } = await openConfiguration(environment)
    const current = configuration.current()
    const { logger, hide } = openLogger(environment, configuration)
    for (const warning of warnings) logger.warn(warning)
    if (current.api.auth_token !== '' && current.api.operator_token === '') logger.warn(ONE_TOKEN)
    const openCode = await openCodeWarning(environment.home)
    if (openCode !== null) logger.warn(openCode)

    const store = inMemory ? openMemoryStore() : await openStore(environment, current)
    closers.add(() => store.log.close())
    const replay =
      current.market.feed === 'file' ? await openReplay(environment.home, current, store.log) : null
    /** Settings that decisions use. */
    const settings = (): Configuration => replay?.settings(configuration.current()) ?? configuration.current()
    const running = await openRunningEngine({
      environment,
      clock: replay?.clock,
      configuration: settings(),
      settings,
      store,
      logger,
      announce: 'always',
    })
    closers.add(() => running.close())
    const { engine, signer, trust } = running
    replay?.time.follow(() => engine.state.recordedAt)
    reloadOnForeignChange(engine, configuration, logger, insecureOk)
    engine.eventBus.subscribe(({ events }) =>
      logActivity(events, logger, configuration.current().logging.json_output),
    )

    const { log, checkpoints } = store
    const verify: IntegrityCheck['verify'] = (request, onProgress) =>
      verifyLog(log, {
        ...request,
        checkpoints,
        trust,
        fold: () => engine.folded(),
        clock,
        ...(onProgress === undefined ? {} : { onProgress }),
      })
    const backtests = await openBacktests({
      environment,
      configuration: () => configuration.current(),
      logger,
      inMemory,
      isWorking: role !== 'engine',
    })
    closers.add(() => backtests.close())
    const mcp = createMcpEndpoint({
      engine,
      backtests,
      configuration: () => configuration.current(),
      recentChainOk: recentCheck(verify, clock),
      logger,
      clock: replay?.clock ?? clock,
      version,
    })
    let drivers: Drivers | null = null
    let isStarting = true
    const server = await createHttpServer(
      {
        engine,
        feedStatus: () => drivers?.feedStatus() ?? null,
        leads: () => drivers?.leads() ?? false,
        mayLead: role !== 'api',
        isStarting: () => isStarting,
        configuration,
        backtests,
        integrity: { verify },
        prove: running.prove,
        proveGrowth: running.proveGrowth,
        mcp,
        logger,
        clock: replay?.clock ?? clock,
        steadyNow: () => clock.now(),
        version,
        startedAtMs,
        insecureOk,
        chainOk: running.integrity.ok,
      },
      role === 'engine' ? { routes: probeRoutes, docs: false } : { openApiFile: OPEN_API_FILE },
    )
    closers.add(() => server.close())
    const { baseUrl } = await server.listen({
      host: host ?? current.api.host,
      port: port ?? current.api.port,
    })
    // A log in memory leaves nothing in the home, not even this file.
    if (!inMemory) {
      const entry = {
        pid: process.pid,
        base_url: baseUrl,
        node_id: engine.nodeId,
        started_at_ms: startedAtMs,
      }
      if (await noted(environment.home, entry, logger))
        closers.add(() => removeServiceFile(environment.home, entry))
    }
    // The dashboard is loaded only now, after requests are already answered.
    let dashboardUrl: string | null = null
    if (dashboard && current.dashboard.enabled && role !== 'engine') {
      const { openDashboard } = await import('./dashboard.ts')
      const opened = await openDashboard({
        environment,
        configuration,
        signer,
        logger,
        apiUrl: baseUrl,
        port: dashboardPort,
      })
      if (opened !== null) closers.add(() => opened.server.close())
      dashboardUrl = opened?.url ?? null
    }
    const timer = createSystemTimer(() => clock.now())
    // A replay is independent of the machine's clock.
    if (replay === null) {
      const clockMonitor = await openClockMonitor({
        environment,
        engine,
        configuration: settings,
        logger,
        timer,
      })
      closers.add(() => clockMonitor.close())
    }
    let draining: Promise<void> | null = null
    closers.add(async () => {
      await draining
    })
    // Opened last, so that a slow market does not delay the first answers. Closed first, so that another process takes
    // over at once.
    if (role !== 'api') {
      const { openDrivers } = await import('./drivers.ts')
      const driving = await openDrivers({
        environment: { ...environment, clock: replay?.clock ?? clock },
        engine,
        configuration: settings,
        replay: replay?.time ?? null,
        logger,
        timer,
        leadership: store.leadership,
        onSecrets: hide,
      })
      drivers = driving
      closers.add(() => driving.close())
    }
    isStarting = false
    return {
      baseUrl,
      dashboardUrl,
      ready: () => server.ready(),
      close: ({ drains } = { drains: false }) => {
        if (drains) draining ??= server.drain()
        return closers.closeAll()
      },
    }
  })

/** Written by the build. Its path differs for this file and for the bundle in dist. */
const OPEN_API_FILE = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/openapi.json' : 'openapi.json',
  import.meta.url,
)

const ONE_TOKEN =
  'api.operator_token is not set: whoever holds the API token can change settings and lower the kill switch; set it ' +
  'with "svc config set api.operator_token -"'

/** Writes the service file. In a home without write access the service still runs, but commands cannot find it. */
const noted = async (home: string, entry: ServiceEntry, logger: Logger): Promise<boolean> => {
  try {
    await writeServiceFile(home, entry)
    return true
  } catch (error) {
    logger.warn('could not write data/service.json: "svc health" will not find this service', { error })
    return false
  }
}

const openConfiguration = async ({ home, variables, insecureOk }: Environment) => {
  const opened = await openConfigurationStore({ home, env: variables })
  if (opened.status === 'invalid') {
    throw notStarted(`the configuration is invalid:\n${opened.problems.join('\n')}`)
  }
  if (opened.store.current().api.auth_token.trim() === '' && !insecureOk) {
    throw notStarted(
      'SECURITY ERROR: API auth token is empty. Set api.auth_token in config/user.yaml or SVC_API__AUTH_TOKEN. ' +
        'SVC_INSECURE_OK=1 allows an empty one, for development and tests only.',
    )
  }
  return opened
}

/** Follows the configuration: level, format and secrets. */
const openLogger = (environment: Environment, configuration: ConfigurationStore) => {
  let keys: readonly string[] = []
  const current = configuration.current()
  const logger = createLogger({
    level: current.logging.level,
    jsonOutput: current.logging.json_output,
    secrets: knownSecretsOf(environment, current),
    clock: environment.clock,
    ...(environment.writeLog === undefined ? {} : { write: environment.writeLog, terminal: false }),
  })
  configuration.onChange((changed) => {
    logger.setLevel(changed.logging.level)
    logger.setJsonOutput(changed.logging.json_output)
    logger.setSecrets([...keys, ...knownSecretsOf(environment, changed)])
  })
  return {
    logger,
    hide: (secrets: readonly string[]): void => {
      keys = secrets
      logger.setSecrets([...keys, ...knownSecretsOf(environment, configuration.current())])
    },
  }
}

/**
 * `svc config set` or another service of this home changes the settings by writing the file and an event. A token that
 * was replaced there must not stay valid here. After a change of our own the file holds nothing new.
 */
const reloadOnForeignChange = (
  engine: Engine,
  configuration: ConfigurationStore,
  logger: Logger,
  insecureOk: boolean,
): void => {
  engine.eventBus.subscribe(({ events }) => {
    if (!events.some(({ type }) => type === 'system.config_changed.v1')) return
    configuration
      .reload({ insecureOk })
      .then((result) => {
        if (result.status !== 'accepted')
          logger.warn('the changed configuration is invalid and was not applied')
      })
      .catch((error: unknown) => logger.error('could not read the changed configuration', { error }))
  })
}

/** A single Ctrl-C arrives twice if a parent process forwards it. */
const SAME_SIGNAL_MS = 2000

/** Time for which a signal waits for a start to finish. The service is then closed in order. */
const START_ENDS_MS = 10_000

/**
 * Runs the service until SIGINT or SIGTERM. A second signal does not wait for open requests. Signals are handled from
 * the start on, because requests are answered before the start has finished.
 */
export const runUntilSignal = async (
  environment: Environment,
  options: ServiceOptions,
): Promise<RunningService> => {
  const starting = startService(environment, options)
  let isStarted = false
  const stopped = new Promise<void>((resolve, reject) => {
    let stoppingSinceMs: number | null = null
    const stop = (drains: boolean): void => {
      const nowMs = environment.clock.now()
      if (stoppingSinceMs === null) {
        stoppingSinceMs = nowMs
        // A failed start reports its error itself.
        starting.then((begun) => begun.close({ drains }).then(resolve, reject)).catch(() => undefined)
        if (!isStarted) setTimeout(() => isStarted || process.exit(1), START_ENDS_MS).unref()
      } else if (nowMs - stoppingSinceMs > SAME_SIGNAL_MS) {
        process.exit(1)
      }
    }
    process.on('SIGINT', () => stop(false))
    process.on('SIGTERM', () => stop(true))
  })
  const service = await starting.catch(explainFailedStart)
  isStarted = true
  return {
    baseUrl: service.baseUrl,
    dashboardUrl: service.dashboardUrl,
    ready: () => service.ready(),
    stopped,
  }
}

const notStarted = (detail: string): Failure => new Failure('service.not_started', detail)

/** Converts errors that a user can cause into a failure with advice. */
export const explainFailedStart = (error: unknown): never => {
  if (error instanceof ReplayRefusedError) throw notStarted(error.message)
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE' || code === 'EACCES' || code === 'EADDRNOTAVAIL') {
    throw new Failure('service.not_started', `cannot listen: ${message}`, {
      advice: 'Choose another port with --port or SVC_API__PORT.',
    })
  }
  throw error
}
