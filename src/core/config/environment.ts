import type { Json } from '../shared/json.ts'
import { nearest } from '../shared/nearest.ts'
import { CONFIGURATION_KEYS, type Key, type KeyKind } from './keys.ts'
import type { Layer } from './layers.ts'
import { isJsonObject } from '../shared/json-object.ts'
import { isList, type KeyPath, withValue } from './values.ts'

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>

interface EnvironmentLayer {
  readonly layer: Layer
  readonly warnings: readonly string[]
  /** Variables that no setting matches. They are errors, because a misspelled limit would silently have no effect. */
  readonly problems: readonly string[]
}

/** Variables that are read elsewhere. They configure how the process runs, not its decisions. */
const NOT_CONFIGURATION: ReadonlySet<string> = new Set([
  'SVC_HOME',
  'SVC_INSECURE_OK',
  'SVC_DEV_MODE',
  'SVC_MASTER_PASSWORD',
  'SVC_API_BASE_URL',
  'SVC_API_TOKEN',
])

/** Variables that orchestrators set for a service named svc, and those that only tests read. */
const OF_OTHERS = /^SVC_(?:SERVICE_HOST|SERVICE_PORT(?:_.*)?|PORT(?:_\d+_.*)?|TEST_.*)$/

const KEY_OF_VARIABLE: ReadonlyMap<string, Key> = new Map(
  CONFIGURATION_KEYS.map((key) => [variableOf(key.path), key]),
)

/**
 * Reads `SVC_` and the key, with `__` between levels, in any case. A value of the wrong form is left for the schema to
 * reject.
 */
export const environmentLayer = (environment: EnvironmentVariables): EnvironmentLayer => {
  const variables = Object.entries(environment)
    .flatMap(([name, text]) => (text === undefined ? [] : [{ name, text, variable: name.toUpperCase() }]))
    .filter(({ variable }) => variable.startsWith('SVC_') && !NOT_CONFIGURATION.has(variable))
    // The documented spelling comes last and wins over others of the same variable.
    .toSorted((one, other) => Number(one.name === one.variable) - Number(other.name === other.variable))
  const settings = new Map<string, { readonly key: Key; readonly name: string; readonly text: string }>()
  const warnings: string[] = []
  const problems: string[] = []
  for (const { name, text, variable } of variables) {
    const key = KEY_OF_VARIABLE.get(variable)
    if (key === undefined) {
      const unknown = `environment variable ${name} is not a known setting`
      if (OF_OTHERS.test(variable)) warnings.push(unknown)
      else problems.push(`${unknown}${hintFor(variable)}`)
      continue
    }
    const other = settings.get(variable)
    if (other !== undefined)
      warnings.push(`environment variable ${other.name} is ignored: ${name} is set too`)
    settings.set(variable, { key, name, text })
  }
  const set = [...settings.values()]
  return {
    warnings,
    problems,
    layer: {
      values: set.reduce(
        (values, { key, text }) => withValue(values, key.path, readText(key.kind, text)),
        {},
      ),
      whereIs: (path) => nameOf(set, path),
    },
  }
}

/** The documented spelling, `SVC_API__AUTH_TOKEN`. */
export function variableOf(path: KeyPath): string {
  return `SVC_${path.join('__').toUpperCase()}`
}

const nameOf = (set: readonly { readonly key: Key; readonly name: string }[], path: KeyPath): string => {
  const names = set
    .filter(({ key }) => key.path.every((part, index) => index >= path.length || part === path[index]))
    .map(({ name }) => name)
  return `environment variable ${names.join(', ')}`
}

const hintFor = (variable: string): string => {
  const near = nearest(variable, [...KEY_OF_VARIABLE.keys()])
  return near === null ? '' : `; did you mean ${near}?`
}

const readText = (kind: KeyKind, text: string): Json => {
  switch (kind) {
    case 'text':
      return text
    case 'number':
      return readNumber(text)
    case 'flag':
      return readFlag(text)
    case 'texts':
      return readList(text, (item) => item)
    case 'numbers':
      return readList(text, readNumber)
    case 'map':
      return readJson(text, isJsonObject)
  }
}

const NUMBER = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i

const readNumber = (text: string): Json => (NUMBER.test(text.trim()) ? Number(text) : text)

const readFlag = (text: string): Json => {
  const word = text.trim().toLowerCase()
  if (['true', '1', 'yes'].includes(word)) return true
  return ['false', '0', 'no'].includes(word) ? false : text
}

const readList = (text: string, readItem: (item: string) => Json): Json => {
  if (text.trim().startsWith('[')) return readJson(text, isList)
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
    .map(readItem)
}

const readJson = (text: string, isRight: (value: unknown) => value is Json): Json => {
  try {
    const value: unknown = JSON.parse(text)
    return isRight(value) ? value : text
  } catch {
    // The text is not JSON and is passed to the schema, whose fault names the variable and the valid values.
    return text
  }
}
