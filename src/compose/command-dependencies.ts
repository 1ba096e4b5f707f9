import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { checkpointFile } from '../adapters/platform/checkpoint-file/checkpoint-file.ts'
import {
  openConfigurationStore,
  type OpenResult,
} from '../adapters/platform/config-file/configuration-store.ts'
import { loadConfiguration, userSettingsPath } from '../adapters/platform/config-file/sources.ts'
import { createUserSettings } from '../adapters/platform/config-file/user-settings.ts'
import { describeIdentity, identityPath } from '../adapters/platform/identity/identity-file.ts'
import {
  checkIdentity,
  installSuccessor,
  loadIdentity,
  prepareSuccessor,
  type IdentityOptions,
} from '../adapters/platform/identity/load-identity.ts'
import { signatures } from '../adapters/platform/signatures/signatures.ts'
import { createVault } from '../adapters/platform/vault/vault.ts'
import type { Configuration } from '../core/config/schema.ts'
import type { CommandDependencies, StoreSession } from '../surfaces/cli/dependencies.ts'
import { Failure } from '../surfaces/cli/failure.ts'
import { knownSecretsOf, type Environment } from './environment.ts'

const FOLDERS = ['config', 'data', 'identity'] as const

/**
 * Dependencies of the command line, for one home. Everything is opened, and large modules are loaded, on first use by a
 * command.
 */
export const createCommandDependencies = (environment: Environment): CommandDependencies => {
  const { home, variables, version, clock, insecureOk, devMode, masterPassword: password } = environment
  const location = { home, env: variables }
  let known: Configuration | null = null

  const openConfiguration = async (): Promise<OpenResult> => {
    const opened = await openConfigurationStore(location)
    if (opened.status === 'opened') known = opened.store.current()
    return opened
  }
  const loaded = async (): Promise<Configuration> => {
    const opened = await openConfiguration()
    if (opened.status === 'invalid') throw new Failure('config.invalid', opened.problems.join('\n'))
    return opened.store.current()
  }
  const openStore = async (): Promise<StoreSession> => {
    const { openSession } = await import('./store.ts')
    return openSession(environment, await loaded())
  }
  const openExistingStore = async (): Promise<StoreSession | null> => {
    const { storeExists } = await import('./store.ts')
    return storeExists(home, await loaded()) ? openStore() : null
  }
  const identityOptions = async (development: boolean): Promise<IdentityOptions> => ({
    home,
    password,
    devMode: devMode || development,
    nodePrefix: (await loaded()).identity.node_prefix,
    clock,
  })

  return {
    home,
    version,
    clock,
    environment: variables,
    insecureOk,
    signatures,
    newToken: () => randomBytes(32).toString('base64url'),
    knownSecrets: () => knownSecretsOf(environment, known),
    createFolders: async () => {
      const missing = FOLDERS.filter((folder) => !existsSync(join(home, folder)))
      for (const folder of missing) await mkdir(join(home, folder), { recursive: true, mode: 0o700 })
      return missing
    },
    configuration: {
      describe: () => ({ path: userSettingsPath(home), present: existsSync(userSettingsPath(home)) }),
      open: openConfiguration,
      check: (file) => loadConfiguration({ ...location, userFile: file }),
      createUserSettings: (values) => createUserSettings(home, values),
    },
    identity: {
      describe: () => describeIdentity(home),
      check: async ({ development }) => checkIdentity(await identityOptions(development)),
      create: async ({ development }) => {
        const { status, identity, encrypted } = await loadIdentity(await identityOptions(development))
        const { nodeId, publicKey } = identity
        return { status, path: relative(home, identityPath(home)), nodeId, publicKey, encrypted }
      },
      prepareSuccessor: async () => {
        const nodePrefix = (await loaded()).identity.node_prefix
        const { encrypted } = await describeIdentity(home)
        // The successor is saved like the present identity: a plain-text key is followed by a plain-text key.
        return prepareSuccessor({ home, password, devMode: encrypted === false, nodePrefix, clock })
      },
      installSuccessor: () => installSuccessor(home),
    },
    vault: createVault({ home, password, clock }),
    openExistingStore,
    missingStore: async () => {
      const { missingStore } = await import('./store.ts')
      return missingStore(home, await loaded())
    },
    openStore,
    checkpointsIn: (file) => checkpointFile(file),
    copyTarget: async (into) => {
      const { openCopyTarget } = await import('./copy-target.ts')
      return openCopyTarget(environment, await loaded(), into)
    },
    openBroker: async () => {
      const { openBroker } = await import('./broker.ts')
      const { createSystemTimer } = await import('../adapters/platform/timer/system-timer.ts')
      const opened = await openBroker(
        environment,
        await loaded(),
        createSystemTimer(() => clock.now()),
      )
      if (opened.status === 'open') return opened.broker
      throw new Failure('live.not_ready', opened.reason, {
        advice: 'Store the keys with "svc vault set", or name them in the environment.',
      })
    },
    backtest: async (request) => {
      const settings = await loaded()
      const { backtestCommand } = await import('./backtest-command.ts')
      await using opened = request.isFromLog ? await openExistingStore() : null
      return await backtestCommand(settings, request, { home, version, log: opened?.log ?? null })
    },
    strategies: {
      list: async () => {
        const { listStrategies } = await import('./strategies.ts')
        return listStrategies({ home, isBacktest: false, onOutput: () => undefined })
      },
      check: async (name, parameters) => {
        const { checkTradable } = await import('./strategies.ts')
        return checkTradable(name, parameters, home)
      },
      openCode: async () => (await import('./strategies.ts')).openCodeWarning(home),
      create: async (name, kind) => (await import('./new-files.ts')).createOwnFiles(home, name, kind),
      test: async (name) => (await import('./new-files.ts')).testStrategies(home, name),
    },
    divergence: async (request) => {
      const settings = await loaded()
      const { runDivergence } = await import('./divergence.ts')
      await using opened = await openExistingStore()
      if (opened === null) throw new Failure('store.missing', `there is no event store in ${home} yet`)
      return await runDivergence(settings, request, { version, log: opened.log })
    },
    sweep: async (request) => {
      const { sweepCommand } = await import('./sweep.ts')
      return sweepCommand(request, { home, version, configuration: await loaded() })
    },
    startWorker: async (options) => {
      const configuration = await loaded()
      const { openWorker } = await import('./queued-backtests.ts')
      const worker = await openWorker({ environment, configuration, ...options })
      const stopped = new Promise<void>((resolve, reject) => {
        const stop = (): void => void worker.close().then(resolve, reject)
        process.once('SIGINT', stop)
        process.once('SIGTERM', stop)
      })
      return { stopped }
    },
    history: async () => (await import('./history.ts')).createHistoryCommands(home, clock),
    startService: async (options) => {
      const { runUntilSignal } = await import('./service.ts')
      return runUntilSignal(environment, options)
    },
    findService: async () => {
      const { askServiceAt, askServiceOf } = await import('./service-file.ts')
      const named = variables['SVC_API_BASE_URL'] ?? ''
      return named === '' ? askServiceOf(home) : askServiceAt(named)
    },
  }
}
