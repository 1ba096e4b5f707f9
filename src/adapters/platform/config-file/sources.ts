import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type EnvironmentVariables, environmentLayer } from '../../../core/config/environment.ts'
import { type Layer, type Layers, NO_LAYER, type PresetFile } from '../../../core/config/layers.ts'
import { leavesOf } from '../../../core/config/values.ts'
import { readYamlFile, type YamlFile } from './read-yaml.ts'

export interface Place {
  /** The folder that holds `config/`. */
  readonly home: string
  readonly env: EnvironmentVariables
}

export interface ReadingPlace extends Place {
  /** Read instead of `config/user.yaml`: to see what a file would do. */
  readonly userFile?: string
}

export interface Sources {
  readonly layers: Layers
  /** Null when there is no file. */
  readonly userText: string | null
  /** The files and variables that say something beside the preset, weak to strong. */
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

export const readSources = async ({ home, env, userFile: given }: ReadingPlace): Promise<SourcesResult> => {
  const defaultFile = await readYamlFile(join(home, DEFAULT_NAME), DEFAULT_NAME)
  const userName = given ?? USER_NAME
  const userFile = await readYamlFile(given ?? userSettingsPath(home), userName)
  // The own file may be absent; one that was named is meant.
  if (given !== undefined && userFile.status === 'absent') {
    return { status: 'broken', problems: [`${given}: does not exist`] }
  }
  const problems = [defaultFile, userFile].flatMap((file) => (file.status === 'broken' ? file.problems : []))
  if (problems.length > 0) return { status: 'broken', problems }
  const environment = environmentLayer(env)
  const layers: Layers = {
    defaultFile: layerOf(defaultFile),
    presets: await readPresets(join(home, PRESETS_NAME)),
    user: layerOf(userFile),
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
      warnings: [...environment.warnings, ...warningsOfMode(userFile, userName)],
    },
  }
}

const layerOf = (file: YamlFile): Layer => (file.status === 'read' ? file.layer : NO_LAYER)

/** A broken preset hurts only who chooses it. */
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

const namesIn = async (folder: string): Promise<readonly string[]> => {
  try {
    return await readdir(folder)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // No folder, no presets: most installations have none.
    if (code === 'ENOENT' || code === 'ENOTDIR') return []
    throw error
  }
}

const warningsOfMode = (file: YamlFile, name: string): readonly string[] => {
  if (file.status !== 'read' || process.platform === 'win32' || (file.mode & 0o077) === 0) return []
  const mode = (file.mode & 0o777).toString(8)
  return [`${name} may hold secrets but others can read it (mode ${mode}): run chmod 600`]
}
