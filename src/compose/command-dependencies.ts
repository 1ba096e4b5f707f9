import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { openConfigurationStore } from '../adapters/platform/config-file/configuration-store.ts'
import { createUserSettings } from '../adapters/platform/config-file/create-user-settings.ts'
import { loadConfiguration } from '../adapters/platform/config-file/load.ts'
import { userSettingsPath } from '../adapters/platform/config-file/sources.ts'
import { checkpointFile } from '../adapters/platform/checkpoint-file/checkpoint-file.ts'
import { createSystemTimer } from '../adapters/platform/timer/system-timer.ts'
import { signatures } from '../adapters/platform/signatures/signatures.ts'
import type { Configuration } from '../core/config/schema.ts'
import { Failure } from '../surfaces/cli/failure.ts'
import type {
  ConfigurationCommands,
  StoreSession,
  CommandDependencies,
} from '../surfaces/cli/dependencies.ts'
import { identityCommands, vaultCommands } from './identity-commands.ts'
import { knownSecretsOf } from './secrets.ts'
import { openSession } from './session.ts'
import { storeExists } from './store.ts'
import type { Environment } from './environment.ts'

const FOLDERS = ['config', 'data', 'identity'] as const

/** Everything the command line works with, for one home. Opens nothing before it is asked for. */
export const createCommandDependencies = (surroundings: Environment): CommandDependencies => {
  const { home, environment } = surroundings
  let known: Configuration | null = null

  const configuration = configurationDesk(surroundings, (loaded) => {
    known = loaded
  })
  const loaded = async (): Promise<Configuration> => {
    const opened = await configuration.open()
    if (opened.status === 'invalid') throw new Failure('config.invalid', opened.problems.join('\n'))
    return opened.store.current()
  }
  const session = async (): Promise<StoreSession> => openSession(surroundings, await loaded())

  return {
    home,
    version: surroundings.version,
    clock: surroundings.clock,
    environment,
    insecureOk: surroundings.insecureOk,
    newToken: () => randomBytes(32).toString('base64url'),
    knownSecrets: () => knownSecretsOf(surroundings, known),
    createFolders: () => createFolders(home),
    configuration,
    identity: identityCommands(surroundings, loaded),
    vault: vaultCommands(surroundings),
    openExistingStore: async () => (storeExists(home, await loaded()) ? session() : null),
    openStore: session,
    openSignatures: () => Promise.resolve(signatures),
    checkpointsIn: checkpointFile,
    openBroker: async () => {
      // The library behind it is large, and few commands need it.
      const { openBroker } = await import('./broker.ts')
      const opened = await openBroker(surroundings, await loaded(), createSystemTimer())
      if (opened.status === 'open') return opened.broker
      throw new Failure('live.not_ready', opened.reason, {
        advice: 'Store the keys with "svc vault set", or name them in the environment.',
      })
    },
    backtest: async (wish) => {
      const settings = await loaded()
      // Fetched only now: no other command needs it.
      const { runBacktest } = await import('./backtest.ts')
      const opened = wish.isFromLog && storeExists(home, settings) ? await session() : null
      try {
        return await runBacktest(settings, wish, { ...surroundings, log: opened?.log ?? null })
      } finally {
        await opened?.close()
      }
    },
    startService: async (options) => {
      // Fetched only now: most commands need none of it, and reading it takes longer than they do.
      const { runUntilSignal } = await import('./run-until-signal.ts')
      return runUntilSignal(surroundings, options)
    },
    askService: async () => askService(environment['SVC_API_BASE_URL'] ?? baseUrlOf(await loaded())),
  }
}

const configurationDesk = (
  { home, environment: env }: Environment,
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

const baseUrlOf = ({ api }: Configuration): string => `http://${api.host}:${api.port}/api/v1`

const ASK_TIMEOUT_MS = 2000

/** Null when nobody answers there, or something else than a service of this kind. */
const askService: (baseUrl: string) => ReturnType<CommandDependencies['askService']> = async (baseUrl) => {
  try {
    const response = await fetch(`${baseUrl}/health`, { signal: AbortSignal.timeout(ASK_TIMEOUT_MS) })
    const body = (await response.json()) as { readonly version?: unknown; readonly uptime_seconds?: unknown }
    const { version, uptime_seconds } = body
    return typeof version === 'string' && typeof uptime_seconds === 'number'
      ? { version, uptime_seconds }
      : null
  } catch {
    // Not reachable is an answer here, whatever the reason.
    return null
  }
}
