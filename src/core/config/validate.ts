import { type Fault, FAULTS_MAX, faultsOf } from '../shared/faults.ts'
import type { JsonObject } from '../shared/json.ts'
import { hintFor } from './nearest-key.ts'
import { type Rule, RULES } from './rules.ts'
import { type Configuration, configurationSchema } from './schema.ts'
import { isObject, type KeyPath, valueAt, withoutValue } from './values.ts'

export type Validation =
  | { readonly status: 'valid'; readonly configuration: Configuration }
  | { readonly status: 'invalid'; readonly faults: readonly Fault[] }

/** The built-in defaults, complete. */
export const DEFAULT_CONFIGURATION: Configuration = frozen(configurationSchema.parse({}))

/** All faults of complete values: of each key, and of keys that do not go together. No prefix in `loc`. */
export const validateValues = (values: JsonObject): Validation => {
  const parsed = configurationSchema.safeParse(values)
  if (parsed.success) {
    const faults = faultsOfRules(parsed.data, [])
    return faults.length === 0
      ? { status: 'valid', configuration: frozen(parsed.data) }
      : { status: 'invalid', faults }
  }
  const faults = faultsOfKeys(values)
  if (faults.length >= FAULTS_MAX) return { status: 'invalid', faults }
  const rest = configurationSchema.safeParse(withoutFaulty(values, faults))
  return {
    status: 'invalid',
    faults: rest.success ? [...faults, ...faultsOfRules(rest.data, faults)] : faults,
  }
}

/** Faults of single keys only: what is wrong whatever stronger layers say. */
export const faultsOfKeys = (values: JsonObject): readonly Fault[] => {
  const parsed = configurationSchema.safeParse(values)
  return parsed.success ? [] : faultsOf(parsed.error, [], { input: values, hintFor })
}

const faultsOfRules = (configuration: Configuration, known: readonly Fault[]): readonly Fault[] =>
  RULES.filter((rule) => known.every((fault) => !concerns(rule, fault))).flatMap((rule) => {
    const msg = rule.check(configuration)
    return msg === null ? [] : [{ loc: rule.at.split('.'), msg, type: rule.type }]
  })

const concerns = ({ reads }: Rule, { loc }: Fault): boolean =>
  reads.some((key) => {
    const path = key.split('.')
    return path.slice(0, loc.length).every((name, index) => name === loc[index])
  })

/** Defaults take the place of what is wrong, so that the rules can look at the rest. */
const withoutFaulty = (values: JsonObject, faults: readonly Fault[]): JsonObject =>
  faults.reduce((rest, { loc }) => withoutValue(rest, objectPath(values, loc)), values)

/** A fault inside a list concerns the list. */
const objectPath = (values: JsonObject, loc: KeyPath): KeyPath =>
  loc.filter((_, index) => isObject(valueAt(values, loc.slice(0, index))))

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(frozen)
  return value
}
