import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { openConfigurationStore } from '../adapters/platform/config-file/configuration-store.ts'
import { createUserSettings } from '../adapters/platform/config-file/user-settings.ts'
import { loadConfiguration } from '../adapters/platform/config-file/sources.ts'
import { userSettingsPath } from '../adapters/platform/config-file/sources.ts'
import type { Configuration } from '../core/config/schema.ts'
import { Failure } from '../surfaces/cli/failure.ts'
import type {
  ConfigurationCommands,
  StoreSession,
  CommandDependencies,
} from '../surfaces/cli/dependencies.ts'
import { identityCommands, vaultCommands } from './identity-commands.ts'
import { knownSecretsOf, type Environment } from './environment.ts'

const FOLDERS = ['config', 'data', 'identity'] as const

/**
 * Everything the command line works with, for one home. Nothing is opened, and nothing large is loaded, before a
 * command asks for it.
 */
export const createCommandDependencies = (environment: Environment): CommandDependencies => {
  const { home, variables } = environment
  let known: Configuration | null = null

  const configuration = configurationCommands(environment, (loaded) => {
    known = loaded
  })
  const loaded = async (): Promise<Configuration> => {
    const opened = await configuration.open()
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

  return {
    home,
    version: environment.version,
    clock: environment.clock,
    environment: variables,
    insecureOk: environment.insecureOk,
    newToken: () => randomBytes(32).toString('base64url'),
    knownSecrets: () => knownSecretsOf(environment, known),
    createFolders: () => createFolders(home),
    configuration,
    identity: identityCommands(environment, loaded),
    vault: vaultCommands(environment),
    openExistingStore,
    openStore,
    openSignatures: async () => {
      const { signatures } = await import('../adapters/platform/signatures/signatures.ts')
      return signatures
    },
    openCheckpoints: async (file) => {
      const { checkpointFile } = await import('../adapters/platform/checkpoint-file/checkpoint-file.ts')
      return checkpointFile(file)
    },
    openBroker: async () => {
      const { openBroker } = await import('./broker.ts')
      const { createSystemTimer } = await import('../adapters/platform/timer/system-timer.ts')
      const opened = await openBroker(environment, await loaded(), createSystemTimer())
      if (opened.status === 'open') return opened.broker
      throw new Failure('live.not_ready', opened.reason, {
        advice: 'Store the keys with "svc vault set", or name them in the environment.',
      })
    },
    backtest: async (request) => {
      const settings = await loaded()
      const { runBacktest } = await import('./backtest.ts')
      const opened = request.isFromLog ? await openExistingStore() : null
      try {
        return await runBacktest(settings, request, { ...environment, log: opened?.log ?? null })
      } finally {
        await opened?.close()
      }
    },
    startService: async (options) => {
      const { runUntilSignal } = await import('./service.ts')
      return runUntilSignal(environment, options)
    },
    findService: async () => {
      const { askServiceAt, askServiceOf } = await import('./service-file.ts')
      const named = variables['SVC_API_BASE_URL'] ?? ''
      return named === '' ? askServiceOf(home, environment.clock) : askServiceAt(named)
    },
  }
}

const configurationCommands = (
  { home, variables: env }: Environment,
  onLoaded: (configuration: Configuration) => void,
): ConfigurationCommands => ({
  describe: () =>
    Promise.resolve({ path: userSettingsPath(home), present: existsSync(userSettingsPath(home)) }),
  open: async () => {
    const opened = await openConfigurationStore({ home, env })
    if (opened.status === 'opened') onLoaded(opened.store.current())
    return opened
  },
  check: async (file) => {
    const loaded = await loadConfiguration({ home, env, userFile: file })
    return loaded.status === 'loaded' ? { status: 'valid', configuration: loaded.configuration } : loaded
  },
  createUserSettings: (values) => createUserSettings(home, values),
})

const createFolders = async (home: string): Promise<readonly string[]> => {
  const missing = FOLDERS.filter((folder) => !existsSync(join(home, folder)))
  for (const folder of missing) await mkdir(join(home, folder), { recursive: true, mode: 0o700 })
  return missing
}
