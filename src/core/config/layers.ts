import type { Fault } from '../shared/faults.ts'
import type { JsonObject } from '../shared/json.ts'
import type { Configuration } from './schema.ts'
import { DEFAULT_CONFIGURATION, validateValues } from './validate.ts'
import { type KeyPath, leavesOf, mergeValues, sameValue, valueAt } from './values.ts'
import { isJsonObject } from '../shared/json-object.ts'

/** Values of one source. `whereIs` returns file and line, or the variable, that sets a key. */
export interface Layer {
  readonly values: JsonObject
  readonly whereIs: (path: KeyPath) => string
}

export type PresetFile =
  | { readonly status: 'read'; readonly layer: Layer }
  | { readonly status: 'broken'; readonly reason: string }

/** All sources, weak to strong: default file, preset, user settings, environment. */
export interface Layers {
  readonly defaultFile: Layer
  /** The files of `config/presets` by name; they win over built-in presets. */
  readonly presets: ReadonlyMap<string, PresetFile>
  readonly user: Layer
  readonly environment: Layer
}

/** A fault and the source that caused it; null if no source has the key (a missing key). */
export interface SourcedFault extends Fault {
  readonly source: string | null
}

export type Effective =
  | { readonly status: 'valid'; readonly configuration: Configuration }
  | { readonly status: 'invalid'; readonly faults: readonly SourcedFault[] }

export const NO_LAYER: Layer = { values: {}, whereIs: () => '' }

export const effectiveConfiguration = (layers: Layers): Effective => {
  const presetFaults = faultsOfPreset(layers)
  const validation = validateValues(effectiveValues(layers))
  if (validation.status === 'valid' && presetFaults.length === 0) return validation
  const faults = [...presetFaults, ...(validation.status === 'invalid' ? validation.faults : [])]
  return { status: 'invalid', faults: faults.map((fault) => ({ ...fault, source: sourceOf(layers, fault) })) }
}

/** All layers merged, not yet validated. */
export const effectiveValues = (layers: Layers): JsonObject =>
  mergeAll(baseValues(layers), layers.user.values, layers.environment.values)

/** Values without user settings and environment. The preset is still the one that these choose. */
export const baseValues = (layers: Layers): JsonObject =>
  mergeAll(asValues(DEFAULT_CONFIGURATION), layers.defaultFile.values, presetLayer(layers).values)

/** Whether the source sets the key, which overrides all weaker sources. */
export const setsKey = (layer: Layer, path: KeyPath): boolean => {
  const value = valueAt(layer.values, path)
  return value !== undefined && value !== null
}

/** The keys whose values differ, in order. */
export const changedKeys = (before: Configuration, after: Configuration): readonly KeyPath[] => {
  const [old, now] = [asValues(before), asValues(after)]
  const gone = leavesOf(old).filter(({ path }) => valueAt(now, path) === undefined)
  const changed = leavesOf(now).filter(({ path, value }) => !sameValue(valueAt(old, path), value))
  return [...gone, ...changed].map(({ path }) => path)
}

/** A configuration is JSON: the schema made it so. */
export const asValues = (configuration: Configuration): JsonObject => configuration

/** The chosen name, unchecked: it may be any value. */
const chosenPreset = ({ environment, user, defaultFile }: Layers): unknown =>
  [environment, user, defaultFile]
    .map(({ values }) => values['preset'] ?? null)
    .find((name) => name !== null) ?? DEFAULT_CONFIGURATION.preset

const presetLayer = (layers: Layers): Layer => {
  const name = chosenPreset(layers)
  if (typeof name !== 'string') return NO_LAYER
  const file = layers.presets.get(name)
  if (file?.status === 'read') return file.layer
  return { values: BUILT_IN_PRESETS.get(name) ?? {}, whereIs: () => `preset ${name}` }
}

const faultsOfPreset = (layers: Layers): readonly Fault[] => {
  const name = chosenPreset(layers)
  if (typeof name !== 'string') return []
  const file = layers.presets.get(name)
  if (file?.status === 'broken') {
    return [{ loc: ['preset'], msg: `must be readable: ${file.reason}`, type: 'conflict' }]
  }
  if (file !== undefined) {
    const nested = valueAt(file.layer.values, ['preset']) !== undefined
    return nested ? [{ loc: ['preset'], msg: 'must not be chosen by a preset', type: 'conflict' }] : []
  }
  if (BUILT_IN_PRESETS.has(name)) return []
  const names = [...new Set([...BUILT_IN_PRESETS.keys(), ...layers.presets.keys()])]
  return [{ loc: ['preset'], msg: `must be one of ${names.join(', ')}`, type: 'enum' }]
}

/** The strongest source that names the key, or else its group. */
const sourceOf = (layers: Layers, { loc }: Fault): string | null => {
  const strongestFirst = [layers.environment, layers.user, presetLayer(layers), layers.defaultFile]
  for (let length = loc.length; length > 0; length--) {
    const path = loc.slice(0, length)
    const source = strongestFirst.find(({ values }) => valueAt(values, path) !== undefined)
    if (source !== undefined) return source.whereIs(path)
  }
  return null
}

const mergeAll = (...values: readonly JsonObject[]): JsonObject =>
  values.reduce((weaker, stronger) => mergeValues(weaker, stronger), {})

/** Values of the presets that need no file. A file of the same name replaces them. */
export const BUILT_IN_PRESETS: ReadonlyMap<string, JsonObject> = new Map([
  ['conservative', preset([0.3, 0.25, 0.2, 0.1, 0.1, 0.05], [1, 0.05, 0.03, 0.02, 0.15])],
  ['balanced', preset([0.25, 0.25, 0.2, 0.15, 0.1, 0.05], [2, 0.1, 0.06, 0.03, 0.3])],
  ['degen', preset([0.2, 0.25, 0.15, 0.2, 0.15, 0.05], [5, 0.2, 0.1, 0.05, 0.4])],
  ['custom', {}],
])

function preset(
  [curator, onchain, tradfi, social, technical, events]: readonly [
    number,
    number,
    number,
    number,
    number,
    number,
  ],
  [leverage, position, heat, dailyLoss, drawdown]: readonly [number, number, number, number, number],
): JsonObject {
  return {
    weights: { curator, onchain, tradfi, social, technical, events },
    risk: {
      max_leverage: leverage,
      max_position_pct: position,
      max_portfolio_heat_pct: heat,
      daily_loss_limit_pct: dailyLoss,
      max_drawdown_pct: drawdown,
    },
  }
}

/** Groups of keys that older versions knew. They are ignored with a warning: an update must not keep a service from starting. */
const RETIRED: readonly (readonly [section: string, group: string])[] = [
  ['brain', 'link'],
  ['karma', 'trust'],
]

interface WithoutRetired {
  readonly values: JsonObject
  /** Dotted names of the ignored groups, such as `karma.trust`. */
  readonly retired: readonly string[]
}

export const withoutRetired = (values: JsonObject): WithoutRetired => {
  const retired: string[] = []
  let kept = values
  for (const [section, group] of RETIRED) {
    const { [section]: found, ...others } = kept
    if (!isJsonObject(found) || !Object.hasOwn(found, group)) continue
    const { [group]: _ignored, ...rest } = found
    kept = { ...others, [section]: rest }
    retired.push(`${section}.${group}`)
  }
  return { values: kept, retired }
}
