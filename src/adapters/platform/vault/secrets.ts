import { SecretMissingError, type Secrets } from '../../../ports/secrets.ts'
import type { Vault } from './vault.ts'

/** Environment first, so that an operator can override the vault for one run. */
export const createSecrets = (
  environment: Readonly<Record<string, string | undefined>>,
  vault: Pick<Vault, 'locked' | 'get'>,
): Secrets => ({
  get: async (name) => {
    const variables = [name, variableOf(name)]
    for (const variable of variables) {
      const value = environment[variable]
      if (value !== undefined && value !== '') return value
    }
    const stored = vault.locked ? null : await vault.get(name)
    if (stored !== null) return stored
    const lock = vault.locked ? ' (locked, SVC_MASTER_PASSWORD is not set)' : ''
    throw new SecretMissingError(
      `secret ${name} not found in the environment (${variables.join(', ')}) or the vault${lock}: ` +
        `set it with svc vault set ${name}`,
    )
  },
})

/** `venue.api_key` is `VENUE_API_KEY` in the environment. */
const variableOf = (name: string): string => name.toUpperCase().replace(/[^A-Z0-9]/g, '_')
