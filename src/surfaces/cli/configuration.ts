import { environmentLayer } from '../../core/config/environment.ts'
import { setsKey } from '../../core/config/layers.ts'
import type { ConfigurationStore } from '../../ports/config-file.ts'
import { Failure } from './failure.ts'
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

/** Where the API token is, in words; never the token itself. */
export const tokenPlaceOf = (dependencies: CommandDependencies, store: ConfigurationStore): string => {
  if (store.current().api.auth_token === '') return 'none (SVC_INSECURE_OK: every request passes)'
  const { layer } = environmentLayer(dependencies.environment)
  return setsKey(layer, TOKEN_KEY)
    ? layer.whereIs(TOKEN_KEY)
    : `${TOKEN_KEY.join('.')} in ${store.describe().path}`
}

/** Serving without a token needs SVC_INSECURE_OK. */
export const requireToken = ({ insecureOk }: CommandDependencies, store: ConfigurationStore): void => {
  if (insecureOk || store.current().api.auth_token.trim() !== '') return
  throw new Failure('security.refused', 'SECURITY ERROR: API auth token is empty', {
    advice:
      'Set api.auth_token in config/user.yaml ("svc init" writes a random one) or the environment variable ' +
      'SVC_API__AUTH_TOKEN. For development and tests only, SVC_INSECURE_OK=1 lets every request pass.',
  })
}

export const invalidConfiguration = (problems: readonly string[]): Failure => {
  const [only] = problems
  const detail =
    problems.length === 1 && only !== undefined
      ? `the configuration is not valid: ${only}`
      : `the configuration has ${problems.length} faults:${problems.map((problem) => `\n  ${problem}`).join('')}`
  return new Failure('config.invalid', detail, { extras: { problems } })
}
