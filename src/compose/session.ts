import type { Configuration } from '../core/config/schema.ts'
import type { StoreSession } from '../surfaces/cli/dependencies.ts'
import { asFailure } from './identity-commands.ts'
import type { RunningEngine } from './running-engine.ts'
import { knownSecretsOf } from './secrets.ts'
import { openStore, type Store } from './store.ts'
import type { Environment } from './environment.ts'

/** The store for one command of the command line, beside a service that may be running on it. */
export const openSession = async (
  surroundings: Environment,
  configuration: Configuration,
): Promise<StoreSession> => {
  const store = await openStore(surroundings, configuration)
  let running: Promise<RunningEngine> | null = null
  return {
    log: store.log,
    checkpoints: store.checkpoints,
    openEngine: async () => {
      running ??= asFailure(() => openEngine(surroundings, configuration, store))
      return (await running).engine
    },
    close: async () => {
      await (await running)?.close()
      await store.log.close()
    },
  }
}

/** The engine is loaded only here: commands that only read the log start faster without it. */
const openEngine = async (
  surroundings: Environment,
  configuration: Configuration,
  store: Store,
): Promise<RunningEngine> => {
  const { createLogger } = await import('../adapters/platform/logger/logger.ts')
  const { openRunningEngine } = await import('./running-engine.ts')
  return openRunningEngine({
    surroundings,
    configuration,
    settings: () => configuration,
    store,
    // What a service says again and again, a single command says only when it matters.
    logger: createLogger({
      level: 'ERROR',
      jsonOutput: false,
      secrets: knownSecretsOf(surroundings, configuration),
      clock: surroundings.clock,
    }),
    announce: 'if-unknown',
  })
}
