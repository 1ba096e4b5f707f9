import { canonicalJson } from '../log/canonical-json.ts'
import type { Sha256Hex } from '../log/hash-chain.ts'
import type { Json, JsonObject } from '../shared/json.ts'
import { secretSettings, type Configuration } from './schema.ts'
import type { SecretForm } from './sections/kinds.ts'
import type { KeyPath } from './values.ts'

export const REDACTED = '***REDACTED***'

/**
 * Names of secrets inside values without a schema, such as parameters of strategies, where only the name of a member
 * identifies a secret.
 */
const SECRET_NAME = /token|secret|password|private_key|api_key/i

/**
 * Returns the configuration for display: secrets that are set read `***REDACTED***`, and addresses keep their public
 * part.
 */
export const redactedConfiguration = (configuration: Configuration): Configuration =>
  redactedMembers(configuration, []) as Configuration

/** The texts that no output may contain: secrets as they are set, and the secret parts of addresses. */
export const secretTexts = (valueOf: (path: KeyPath) => unknown): readonly string[] =>
  [...secretSettings()].flatMap(([key, form]) => {
    const value = valueOf(key.split('.'))
    return typeof value === 'string' && value !== '' ? textsIn(value, form) : []
  })

/** The text whose SHA-256 is `config_hash`. */
export const configurationHashInput = (configuration: Configuration): string =>
  canonicalJson(redactedConfiguration(configuration))

/**
 * `config_hash`. Cached per configuration object, because every cycle needs it and a changed configuration is a new
 * object.
 */
export const configurationHash = (configuration: Configuration, sha256Hex: Sha256Hex): string => {
  const known = hashes.get(configuration)
  if (known !== undefined) return known
  const hash = sha256Hex(configurationHashInput(configuration))
  hashes.set(configuration, hash)
  return hash
}

const hashes = new WeakMap<Configuration, string>()

export const isSecret = (path: KeyPath): boolean =>
  secretSettings().has(path.join('.')) || SECRET_NAME.test(path.at(-1) ?? '')

/** A secret shown redacted and sent back is the secret that is already there. */
export const isRedactedSecret = (path: KeyPath, value: Json): boolean =>
  typeof value === 'string' && value.includes(REDACTED) && isSecret(path)

const redactedMembers = (values: JsonObject, path: KeyPath): JsonObject =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, redactedValue(value, [...path, name])]),
  )

const redactedValue = (value: Json, path: KeyPath): Json => {
  if (typeof value === 'string') {
    const form = secretSettings().get(path.join('.')) ?? (isSecret(path) ? 'value' : null)
    return form === null || value === '' ? value : shownAs(form, value)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return redactedMembers(value as JsonObject, path)
}

const shownAs = (form: SecretForm, value: string): string => {
  switch (form) {
    case 'value':
      return REDACTED
    case 'password':
      return value.replace(PASSWORD_IN_URL, `$1${REDACTED}$2`).replace(PASSWORD_IN_QUERY, `$1${REDACTED}`)
    case 'path':
      return redactedPath(value)
  }
}

/** From the first colon after the user to the last `@`: an unescaped `@` belongs to the password. */
const PASSWORD_IN_URL = /^([a-z]+:\/\/[^:@/?#]*:).*(@[^@]*)$/s
const PASSWORD_IN_QUERY = /([?&][^=&]*(?:token|secret|password|private_key|api_key)[^=&]*=)([^&#]*)/gi

/** Scheme and host of an address. Text that is not an address is hidden whole. */
const redactedPath = (url: string): string => {
  if (!URL.canParse(url)) return REDACTED
  const { protocol, host, origin, href } = new URL(url)
  return href === `${origin}/` ? url : `${protocol}//${host}/${REDACTED}`
}

const textsIn = (value: string, form: SecretForm): readonly string[] => {
  if (form === 'value') return [value]
  const parsed = URL.canParse(value) ? new URL(value) : null
  const password = parsed === null || parsed.password === '' ? [] : writtenAndRead(parsed.password)
  const inQuery = [...value.matchAll(PASSWORD_IN_QUERY)].map(([, , text = '']) => text)
  if (form === 'password') return [...password, ...inQuery.filter((text) => text !== '')]
  if (redactedPath(value) === value) return []
  const path = parsed === null ? '' : `${parsed.pathname}${parsed.search}`
  return [value, ...(path.length < PATH_LENGTH_MIN ? [] : [path]), ...password]
}

/** Shorter paths occur in too many other texts to be hidden. */
const PATH_LENGTH_MIN = 8

const writtenAndRead = (password: string): readonly string[] => {
  try {
    return [password, decodeURIComponent(password)]
  } catch {
    // The percent sign is literal. The driver uses the text unchanged.
    return [password]
  }
}
