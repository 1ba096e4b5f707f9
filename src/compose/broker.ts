import { createCcxtBroker } from '../adapters/brokers/ccxt/ccxt-broker.ts'
import { createSecrets } from '../adapters/platform/vault/secrets.ts'
import { createVault } from '../adapters/platform/vault/vault.ts'
import type { Configuration } from '../core/config/schema.ts'
import type { OpeningCheck } from '../core/trading/venue/unrouted.ts'
import { supportedVenue, unsupportedVenue } from '../core/shared/venues.ts'
import type { Broker } from '../ports/broker.ts'
import { SecretMissingError, type Secrets } from '../ports/secrets.ts'
import type { Timer } from '../ports/timer.ts'
import type { Environment } from './environment.ts'

export type OpenedBroker =
  | { readonly status: 'open'; readonly broker: Broker; readonly secrets: readonly string[] }
  | { readonly status: 'refused'; readonly check: OpeningCheck; readonly reason: string }

/** Reads the keys `broker.<venue>.api_key`, `.secret` and, if present, `.password` from the environment or the vault. */
export const openBroker = async (
  { home, variables, clock, masterPassword: password }: Environment,
  { execution, risk }: Configuration,
  timer: Timer,
  maySend: () => boolean = () => true,
): Promise<OpenedBroker> => {
  // Checked before the keys, so that no user creates keys for a venue that gets no orders.
  if (supportedVenue(execution.venue) === null) {
    return { status: 'refused', check: 'venue', reason: unsupportedVenue(execution.venue) }
  }
  const secrets = createSecrets(variables, createVault({ home, password, clock }))
  try {
    const apiKey = await secrets.get(`broker.${execution.venue}.api_key`)
    const secret = await secrets.get(`broker.${execution.venue}.secret`)
    const venuePassword = await optional(secrets, `broker.${execution.venue}.password`)
    const credentials =
      venuePassword === null ? { apiKey, secret } : { apiKey, secret, password: venuePassword }
    const broker = createCcxtBroker({
      exchange: execution.venue,
      credentials,
      leverageMax: Math.max(1, Math.floor(risk.max_leverage)),
      marginMode: execution.margin_mode,
      timer,
      maySend,
      ...(execution.venue_url === '' ? {} : { baseUrl: execution.venue_url }),
    })
    return { status: 'open', broker, secrets: Object.values(credentials) }
  } catch (error) {
    if (error instanceof SecretMissingError) {
      return { status: 'refused', check: 'keys', reason: error.message }
    }
    throw error
  }
}

const optional = async (secrets: Secrets, name: string): Promise<string | null> => {
  try {
    return await secrets.get(name)
  } catch (error) {
    // Most venues use no password.
    if (error instanceof SecretMissingError) return null
    throw error
  }
}
