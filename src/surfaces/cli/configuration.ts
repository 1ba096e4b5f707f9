import { environmentLayer } from '../../core/config/environment.ts'
import { setsKey } from '../../core/config/layers.ts'
import type { Configuration } from '../../core/config/schema.ts'
import type { ConfigurationStore } from '../../ports/config-file.ts'
import type { CommandDependencies } from './dependencies.ts'
import { Failure } from './failure.ts'

const TOKEN_KEY = ['api', 'auth_token'] as const

/** The configuration of this home. Throws a failure that names every invalid key. */
export const openConfiguration = async ({
  configuration,
}: Pick<CommandDependencies, 'configuration'>): Promise<ConfigurationStore> => {
  const opened = await configuration.open()
  if (opened.status === 'invalid') throw invalidConfiguration(opened.problems)
  return opened.store
}

export const settingsOf = async (
  dependencies: Pick<CommandDependencies, 'configuration'>,
): Promise<Configuration> => (await openConfiguration(dependencies)).current()

/** Place of the API token, as text; never the token itself. */
export const tokenPlaceOf = (
  { environment }: Pick<CommandDependencies, 'environment'>,
  store: ConfigurationStore,
): string => {
  if (store.current().api.auth_token === '') return 'none (SVC_INSECURE_OK: every request passes)'
  const { layer } = environmentLayer(environment)
  return setsKey(layer, TOKEN_KEY)
    ? layer.whereIs(TOKEN_KEY)
    : `${TOKEN_KEY.join('.')} in ${store.describe().path}`
}

/** Serving without a token needs SVC_INSECURE_OK. */
export const requireToken = (
  { insecureOk }: Pick<CommandDependencies, 'insecureOk'>,
  store: ConfigurationStore,
): void => {
  if (insecureOk || store.current().api.auth_token.trim() !== '') return
  throw new Failure('security.refused', 'SECURITY ERROR: API auth token is empty', {
    advice:
      'Set api.auth_token in config/user.yaml ("svc init" writes a random one) or the environment variable ' +
      'SVC_API__AUTH_TOKEN. For development and tests only, SVC_INSECURE_OK=1 lets every request pass.',
  })
}

export const invalidConfiguration = (problems: readonly string[]): Failure => {
  const detail =
    problems.length === 1
      ? `the configuration is not valid: ${problems[0]}`
      : `the configuration has ${problems.length} faults:${problems.map((problem) => `\n  ${problem}`).join('')}`
  return new Failure('config.invalid', detail, { extras: { problems } })
}
