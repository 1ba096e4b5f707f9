import { environmentLayer, variableOf } from '../../core/config/environment.ts'
import type { Key } from '../../core/config/keys.ts'
import { setsKey } from '../../core/config/layers.ts'
import { configurationHashInput } from '../../core/config/secrets.ts'
import { lockedSettings } from '../../core/treasury/wallet.ts'
import { sentenceOf } from '../../core/shared/faults.ts'
import { sha256Hex } from '../../engine/sha256.ts'
import type { ConfigurationChanged, ConfigurationStore } from '../../ports/config-file.ts'
import { Failure } from './failure.ts'
import { readState, type RecordInLog } from './store.ts'
import type { CommandDependencies } from './dependencies.ts'

const TOKEN_KEY = ['api', 'auth_token'] as const

/** The configuration of this home, or a failure that names every key at fault. */
export const openConfiguration = async ({
  configuration,
}: CommandDependencies): Promise<ConfigurationStore> => {
  const opened = await configuration.open()
  if (opened.status === 'invalid') throw invalidConfiguration(opened.problems)
  return opened.store
}

/** One key of `config/user.yaml`, given as text like an environment variable. */
export const changeKey = async (
  dependencies: CommandDependencies,
  { path }: Key,
  value: string,
  record: RecordInLog,
): Promise<ConfigurationChanged> => {
  const store = await openConfiguration(dependencies)
  const { layer } = environmentLayer({ [variableOf(path)]: value })
  const outcome = await store.change(layer.values, {
    insecureOk: dependencies.insecureOk,
    locked: lockedSettings((await readState(dependencies)).treasury),
  })
  if (outcome.status !== 'accepted') throw invalidConfiguration(outcome.faults.map(sentenceOf))
  const { changed, configuration } = outcome
  if (changed.length > 0) {
    const configHash = sha256Hex(configurationHashInput(configuration))
    await record('config set', {
      kind: 'record-config-change',
      change: { changed: [...changed], config_hash: configHash },
      surface: 'cli',
    })
  }
  return outcome
}

/** Where the API token is, in words; never the token itself. */
export const tokenPlaceOf = (dependencies: CommandDependencies, store: ConfigurationStore): string => {
  if (store.current().api.auth_token === '') return 'none (SVC_INSECURE_OK: every request passes)'
  const { layer } = environmentLayer(dependencies.environment)
  return setsKey(layer, TOKEN_KEY)
    ? layer.whereIs(TOKEN_KEY)
    : `${TOKEN_KEY.join('.')} in ${store.describe().path}`
}

/** Nobody listens without a token by accident. */
export const requireToken = ({ insecureOk }: CommandDependencies, store: ConfigurationStore): void => {
  if (insecureOk || store.current().api.auth_token.trim() !== '') return
  throw new Failure('security.refused', 'SECURITY ERROR: API auth token is empty', {
    advice:
      'Set api.auth_token in config/user.yaml ("svc init" writes a random one) or the environment variable ' +
      'SVC_API__AUTH_TOKEN. For development and tests only, SVC_INSECURE_OK=1 lets every request pass.',
  })
}

const invalidConfiguration = (problems: readonly string[]): Failure => {
  const [only] = problems
  const detail =
    problems.length === 1 && only !== undefined
      ? `the configuration is not valid: ${only}`
      : `the configuration has ${problems.length} faults:${problems.map((problem) => `\n  ${problem}`).join('')}`
  return new Failure('config.invalid', detail, { extras: { problems } })
}
