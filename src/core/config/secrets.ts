import { canonicalJson } from '../log/canonical-json.ts'
import type { Sha256Hex } from '../log/hash-chain.ts'
import type { Json, JsonObject } from '../shared/json.ts'
import type { Configuration } from './schema.ts'
import type { KeyPath } from './values.ts'

export const REDACTED = '***REDACTED***'

const SECRET_NAME = /token|secret|password|private_key|api_key/i

/** What may be shown: secrets that are set read `***REDACTED***`, also the password in `store.url`. */
export const redactedConfiguration = (configuration: Configuration): Configuration => ({
  ...(redactedMembers(configuration) as Configuration),
  store: { ...configuration.store, url: redactedUrl(configuration.store.url) },
})

/** The text whose SHA-256 is `config_hash`. */
export const configurationHashInput = (configuration: Configuration): string =>
  canonicalJson(redactedConfiguration(configuration))

/** `config_hash`. A changed configuration is another object, and every cycle asks: it is computed once for each. */
export const configurationHash = (configuration: Configuration, sha256Hex: Sha256Hex): string => {
  const known = hashes.get(configuration)
  if (known !== undefined) return known
  const hash = sha256Hex(configurationHashInput(configuration))
  hashes.set(configuration, hash)
  return hash
}

const hashes = new WeakMap<Configuration, string>()

export const isSecret = (path: KeyPath): boolean =>
  SECRET_NAME.test(path.at(-1) ?? '') || path.join('.') === 'store.url'

/** A secret shown redacted and sent back is the secret that is already there. */
export const isRedactedSecret = (path: KeyPath, value: Json): boolean =>
  typeof value === 'string' && value.includes(REDACTED) && isSecret(path)

const redactedMembers = (values: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, redactedValue(name, value)]))

const redactedValue = (name: string, value: Json): Json => {
  if (typeof value === 'string') return value !== '' && SECRET_NAME.test(name) ? REDACTED : value
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return redactedMembers(value as JsonObject)
}

/** From the first colon after the user to the last `@`: an unescaped `@` belongs to the password. */
const PASSWORD_IN_URL = /^([a-z]+:\/\/[^:@/?#]*:).*(@[^@]*)$/s
const PASSWORD_IN_QUERY = /([?&][^=&]*(?:token|secret|password|private_key|api_key)[^=&]*=)[^&#]*/gi

const redactedUrl = (url: string): string =>
  url.replace(PASSWORD_IN_URL, `$1${REDACTED}$2`).replace(PASSWORD_IN_QUERY, `$1${REDACTED}`)
