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
import { knownSecretsOf, opening, type Closers, type Environment } from './environment.ts'

/** A running service that can be stopped. */
export type Service = Omit<RunningService, 'stopped'> & {
  /** `drains`: gives a load balancer time to notice before requests are refused. */
  close(options?: { readonly drains: boolean }): Promise<void>
}

/** Opens settings, log and engine, API, dashboard and drivers in this order, and closes them in reverse. */
export const startService = (environment: Environment, options: ServiceOptions): Promise<Service> =>
  opening(async (closers) => {
    const start: Start = { environment, options, closers, startedAtMs: environment.clock.now() }
    const base = { ...start, ...(await openSettings(start)) }
    const decisions = { ...base, ...(await openDecisions(base)) }
    const { server, baseUrl, status } = await openApi(decisions)
    await announce(decisions, baseUrl)
    const dashboardUrl = await openPages(decisions, baseUrl)
    let draining: Promise<void> | null = null
    await openWork(decisions, status, async () => {
      await draining
    })
    status.isStarting = false
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

interface Start {
  readonly environment: Environment
  readonly options: ServiceOptions
  readonly closers: Closers
  readonly startedAtMs: number
}

type Base = Start & Awaited<ReturnType<typeof openSettings>>
type Decisions = Base & Awaited<ReturnType<typeof openDecisions>>

/** What the API reports of the start and of the drivers, which are opened after it. */
interface StartStatus {
  isStarting: boolean
  drivers: Drivers | null
}

/** Opens settings and logger, and warns of what is unsafe. */
const openSettings = async ({ environment }: Start) => {
  const { store: configuration, warnings } = await openConfiguration(environment)
  const { api } = configuration.current()
  const { logger, hide } = openLogger(environment, configuration)
  for (const warning of warnings) logger.warn(warning)
  if (api.auth_token !== '' && api.operator_token === '') logger.warn(ONE_TOKEN)
  const openCode = await openCodeWarning(environment.home)
  if (openCode !== null) logger.warn(openCode)
  return { configuration, logger, hide }
}

/** Opens the log and the engine on it. While a file is replayed, decisions follow the clock of its bars. */
const openDecisions = async ({ environment, options, closers, configuration, logger }: Base) => {
  const current = configuration.current()
  const store = options.inMemory === true ? openMemoryStore() : await openStore(environment, current)
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
  const { engine } = running
  replay?.time.follow(() => engine.state.recordedAt)
  reloadOnForeignChange(engine, configuration, logger, environment.insecureOk)
  engine.eventBus.subscribe(({ events }) =>
    logActivity(events, logger, configuration.current().logging.json_output),
  )
  return { store, replay, clock: replay?.clock ?? environment.clock, settings, running, engine }
}

/** Opens backtests, MCP and the HTTP server, which answers from now on. */
const openApi = async (decisions: Decisions) => {
  const { environment, options, closers, startedAtMs, configuration, logger, running, engine, clock } =
    decisions
  const { version, insecureOk } = environment
  const { role = 'all', inMemory = false } = options
  const status: StartStatus = { isStarting: true, drivers: null }
  const verify = verifierOf(decisions)
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
    recentChainOk: recentCheck(verify, environment.clock),
    logger,
    clock,
    version,
  })
  const server = await createHttpServer(
    {
      engine,
      feedStatus: () => status.drivers?.feedStatus() ?? null,
      leads: () => status.drivers?.leads() ?? false,
      mayLead: role !== 'api',
      isStarting: () => status.isStarting,
      configuration,
      backtests,
      integrity: { verify },
      prove: running.prove,
      proveGrowth: running.proveGrowth,
      mcp,
      logger,
      clock,
      steadyNow: () => environment.clock.now(),
      version,
      startedAtMs,
      insecureOk,
      chainOk: running.integrity.ok,
    },
    role === 'engine' ? { routes: probeRoutes, docs: false } : { openApiFile: OPEN_API_FILE },
  )
  closers.add(() => server.close())
  const { api } = configuration.current()
  const { baseUrl } = await server.listen({ host: options.host ?? api.host, port: options.port ?? api.port })
  return { server, baseUrl, status }
}

const verifierOf =
  ({ environment: { clock }, store: { log, checkpoints }, running, engine }: Decisions) =>
  (...[request, onProgress]: Parameters<IntegrityCheck['verify']>) =>
    verifyLog(log, {
      ...request,
      checkpoints,
      trust: running.trust,
      fold: () => engine.folded(),
      clock,
      ...(onProgress === undefined ? {} : { onProgress }),
    })

/** Writes where the service listens. A log in memory leaves nothing in the home, not even this file. */
const announce = async (
  { environment: { home }, options, closers, startedAtMs, engine, logger }: Decisions,
  baseUrl: string,
): Promise<void> => {
  if (options.inMemory === true) return
  const entry = {
    pid: process.pid,
    base_url: baseUrl,
    node_id: engine.nodeId,
    started_at_ms: startedAtMs,
  }
  if (await noted(home, entry, logger)) closers.add(() => removeServiceFile(home, entry))
}

/** Opens the dashboard and returns its URL. It is loaded only now, after requests are already answered. */
const openPages = async (
  { environment, options, closers, configuration, running: { signer }, logger }: Decisions,
  apiUrl: string,
): Promise<string | null> => {
  const isWanted = options.dashboard && configuration.current().dashboard.enabled
  if (!isWanted || options.role === 'engine') return null
  const { openDashboard } = await import('./dashboard.ts')
  const port = options.dashboardPort
  const opened = await openDashboard({ environment, configuration, signer, logger, apiUrl, port })
  if (opened !== null) closers.add(() => opened.server.close())
  return opened?.url ?? null
}

/**
 * Opens what works without requests: the clock monitor, and the drivers of feed, schedule and orders. `drained` is
 * awaited after the drivers are closed and before the rest is.
 */
const openWork = async (
  { environment, options, closers, engine, settings, replay, clock, logger, store, hide }: Decisions,
  status: StartStatus,
  drained: () => Promise<void>,
): Promise<void> => {
  const timer = createSystemTimer(() => environment.clock.now())
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
  closers.add(drained)
  if (options.role === 'api') return
  // Opened last, so that a slow market does not delay the first answers. Closed first, so that another process takes
  // over at once.
  const { openDrivers } = await import('./drivers.ts')
  const driving = await openDrivers({
    environment: { ...environment, clock },
    engine,
    configuration: settings,
    replay: replay?.time ?? null,
    logger,
    timer,
    leadership: store.leadership,
    onSecrets: hide,
  })
  status.drivers = driving
  closers.add(() => driving.close())
}

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
