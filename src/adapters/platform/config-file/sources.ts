import { join } from 'node:path'
import { type EnvironmentVariables, environmentLayer } from '../../../core/config/environment.ts'
import {
  effectiveConfiguration,
  type Layer,
  type Layers,
  NO_LAYER,
  type PresetFile,
  type SourcedFault,
  withoutRetired,
} from '../../../core/config/layers.ts'
import type { Configuration } from '../../../core/config/schema.ts'
import { leavesOf } from '../../../core/config/values.ts'
import { warningsOf } from '../../../core/config/validate.ts'
import { namesIn } from '../../files.ts'
import { readYamlFile, type YamlFile } from './read-yaml.ts'

export interface ConfigurationLocation {
  /** The folder that holds `config/`. */
  readonly home: string
  readonly env: EnvironmentVariables
}

export interface ReadLocation extends ConfigurationLocation {
  /** Read instead of `config/user.yaml`: to check a file before it is used. */
  readonly userFile?: string
}

export interface Sources {
  readonly layers: Layers
  /** Null when there is no file. */
  readonly userText: string | null
  /** Files and variables that set a value, lowest priority first. */
  readonly names: readonly string[]
  readonly warnings: readonly string[]
}

export type SourcesResult =
  | { readonly status: 'read'; readonly sources: Sources }
  | { readonly status: 'broken'; readonly problems: readonly string[] }

const DEFAULT_NAME = 'config/default.yaml'
const USER_NAME = 'config/user.yaml'
const PRESETS_NAME = 'config/presets'
const PRESETS_MAX = 100
const PRESET_FILE = /^([a-z][a-z0-9_-]{0,63})\.yaml$/

export const userSettingsPath = (home: string): string => join(home, USER_NAME)

export const readSources = async ({ home, env, userFile: given }: ReadLocation): Promise<SourcesResult> => {
  const defaultFile = await readYamlFile(join(home, DEFAULT_NAME), DEFAULT_NAME)
  const userName = given ?? USER_NAME
  const userFile = await readYamlFile(given ?? userSettingsPath(home), userName)
  // The default file may be absent; a file that was named must exist.
  if (given !== undefined && userFile.status === 'absent') {
    return { status: 'broken', problems: [`${given}: does not exist`] }
  }
  const problems = [defaultFile, userFile].flatMap((file) => (file.status === 'broken' ? file.problems : []))
  if (problems.length > 0) return { status: 'broken', problems }
  const environment = environmentLayer(env)
  if (environment.problems.length > 0) return { status: 'broken', problems: environment.problems }
  const inDefault = currentLayerOf(defaultFile, DEFAULT_NAME)
  const inUser = currentLayerOf(userFile, userName)
  const layers: Layers = {
    defaultFile: inDefault.layer,
    presets: await readPresets(join(home, PRESETS_NAME)),
    user: inUser.layer,
    environment: environment.layer,
  }
  return {
    status: 'read',
    sources: {
      layers,
      userText: userFile.status === 'read' ? userFile.text : null,
      names: [
        ...(defaultFile.status === 'read' ? [DEFAULT_NAME] : []),
        ...(userFile.status === 'read' ? [userName] : []),
        ...leavesOf(environment.layer.values).map(({ path }) => environment.layer.whereIs(path)),
      ],
      warnings: [
        ...environment.warnings,
        ...inDefault.warnings,
        ...inUser.warnings,
        ...warningsOfMode(userFile, userName),
      ],
    },
  }
}

/** Without the keys of older versions. */
const currentLayerOf = (
  file: YamlFile,
  name: string,
): { readonly layer: Layer; readonly warnings: readonly string[] } => {
  if (file.status !== 'read') return { layer: NO_LAYER, warnings: [] }
  const { values, retired } = withoutRetired(file.layer.values)
  return {
    layer: { values, whereIs: file.layer.whereIs },
    warnings: retired.map((key) => `${name}: ${key} is no longer used, and is ignored`),
  }
}

/** Most installations have none. A broken preset is an error only where it is chosen. */
const readPresets = async (folder: string): Promise<ReadonlyMap<string, PresetFile>> => {
  const names = (await namesIn(folder)).flatMap((file) => PRESET_FILE.exec(file)?.[1] ?? [])
  const presets = new Map<string, PresetFile>()
  for (const name of names.toSorted().slice(0, PRESETS_MAX)) {
    const file = await readYamlFile(join(folder, `${name}.yaml`), `${PRESETS_NAME}/${name}.yaml`)
    if (file.status === 'read') presets.set(name, { status: 'read', layer: file.layer })
    if (file.status === 'broken') presets.set(name, { status: 'broken', reason: file.problems.join('; ') })
  }
  return presets
}

const warningsOfMode = (file: YamlFile, name: string): readonly string[] => {
  if (file.status !== 'read' || process.platform === 'win32' || (file.mode & 0o077) === 0) return []
  const mode = (file.mode & 0o777).toString(8)
  return [`${name} may hold secrets but others can read it (mode ${mode}): run chmod 600`]
}

export interface LoadedConfiguration {
  readonly status: 'loaded'
  readonly configuration: Configuration
  readonly warnings: readonly string[]
  readonly userPath: string
  /** Files and variables that set a value, lowest priority first. */
  readonly sources: readonly string[]
}

export type LoadResult =
  | LoadedConfiguration
  /** One line each: file, key, fault. Never a value. */
  | { readonly status: 'invalid'; readonly problems: readonly string[] }

/** Merges defaults, files and environment. The caller decides whether an empty token is acceptable. */
export const loadConfiguration = async (location: ReadLocation): Promise<LoadResult> => {
  const read = await readSources(location)
  if (read.status === 'broken') return { status: 'invalid', problems: read.problems }
  const { layers, names, warnings } = read.sources
  const effective = effectiveConfiguration(layers)
  if (effective.status === 'invalid') return { status: 'invalid', problems: effective.faults.map(lineOf) }
  return {
    status: 'loaded',
    configuration: effective.configuration,
    warnings: [...warnings, ...warningsOf(effective.configuration)],
    userPath: userSettingsPath(location.home),
    sources: names,
  }
}

const lineOf = ({ source, loc, msg }: SourcedFault): string =>
  `${source === null ? '' : `${source}: `}${loc.join('.')} ${msg}`
