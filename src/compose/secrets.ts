import type { Configuration } from '../core/config/schema.ts'
import type { Environment } from './environment.ts'

/** Values that no output of this process may show. */
export const knownSecretsOf = (
  { environment, masterPassword }: Environment,
  configuration: Configuration | null,
): readonly string[] =>
  [
    masterPassword,
    environment['SVC_API_TOKEN'],
    environment['SVC_API__AUTH_TOKEN'],
    environment['SVC_API__OPERATOR_TOKEN'],
    configuration?.api.auth_token,
    configuration?.api.operator_token,
    passwordOf(configuration?.store.url ?? environment['SVC_STORE__URL'] ?? ''),
  ].filter((secret): secret is string => secret !== undefined && secret !== '')

const passwordOf = (url: string): string | undefined =>
  URL.canParse(url) ? decodeURIComponent(new URL(url).password) : undefined
