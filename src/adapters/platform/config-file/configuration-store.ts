import { existsSync } from 'node:fs'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { type SettingsChange, changeUserSettings, needsRestart } from '../../../core/config/change.ts'
import { environmentLayer } from '../../../core/config/environment.ts'
import { asValues, changedKeys } from '../../../core/config/layers.ts'
import { configurationSchema, type Configuration } from '../../../core/config/schema.ts'
import { leavesOf, valueAt, withoutValue, withValue, type KeyPath } from '../../../core/config/values.ts'
import { warningsOf } from '../../../core/config/validate.ts'
import {
  type ChangeOptions,
  type ConfigurationChanged,
  ConfigurationFileError,
  type ConfigurationListener,
  type ConfigurationRefusal,
  type ConfigurationStore,
} from '../../../ports/config-file.ts'
import {
  loadConfiguration,
  readSources,
  userSettingsPath,
  type ConfigurationLocation,
  type LoadedConfiguration,
} from './sources.ts'
import { replaceFile, userSettingsText } from './user-settings.ts'

export type OpenResult =
  | (Omit<LoadedConfiguration, 'status'> & { readonly status: 'opened'; readonly store: ConfigurationStore })
  | { readonly status: 'invalid'; readonly problems: readonly string[] }

const ATTEMPTS_MAX = 20
/** Random, so that one of several processes goes first. */
const PAUSE_MS_MAX = 50

export const openConfigurationStore = async (location: ConfigurationLocation): Promise<OpenResult> => {
  const loaded = await loadConfiguration(location)
  if (loaded.status === 'invalid') return loaded
  return { ...loaded, status: 'opened', store: storeOf(location, loaded.configuration) }
}

const storeOf = (location: ConfigurationLocation, loaded: Configuration): ConfigurationStore => {
  const path = userSettingsPath(location.home)
  const listeners = new Set<ConfigurationListener>()
  let current = loaded
  const setByEnvironment = leavesOf(environmentLayer(location.env).layer.values).map(({ path: key }) =>
    key.join('.'),
  )
  let lastChange: Promise<unknown> = Promise.resolve()

  const apply = async (
    body: unknown,
    options: ChangeOptions,
  ): Promise<ConfigurationChanged | ConfigurationRefusal> => {
    const saved = await save(location, current, body, options)
    if (saved.status !== 'accepted') return saved
    const { configuration, changed, restartRequired, overriddenByEnv } = saved
    current = configuration
    if (changed.length > 0) for (const listener of listeners) listener(configuration, changed)
    const warnings = warningsOf(configuration)
    return { status: 'accepted', configuration, path, changed, restartRequired, overriddenByEnv, warnings }
  }

  const change: ConfigurationStore['change'] = (body, options) => {
    const result = lastChange.then(() => apply(body, options))
    // The next change waits for this one; a failure goes to its own caller.
    lastChange = result.catch(() => undefined)
    return result
  }

  const waiting = (): readonly KeyPath[] => changedKeys(loaded, current).filter(needsRestart)

  return {
    current: () => current,
    running: () => withValuesOf(loaded, current, waiting()),
    change,
    validate: async (body, options) => {
      const { change: outcome } = await decide(location, current, body, options)
      return outcome.status === 'accepted'
        ? { status: 'valid', configuration: outcome.configuration }
        : outcome
    },
    reload: (options) => change({}, options),
    describe: () => ({
      path,
      present: existsSync(path),
      setByEnvironment,
      waitingForRestart: waiting().map((key) => key.join('.')),
    }),
    onChange: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** Returns `configuration` with the values that `other` has at these keys. */
const withValuesOf = (
  other: Configuration,
  configuration: Configuration,
  keys: readonly KeyPath[],
): Configuration => {
  if (keys.length === 0) return configuration
  const values = keys.reduce((changed, key) => {
    const value = valueAt(asValues(other), key)
    return value === undefined ? withoutValue(changed, key) : withValue(changed, key, value)
  }, asValues(configuration))
  return configurationSchema.parse(values)
}

/** Decides on the current files, and again if another process changed them meanwhile. */
const save = async (
  location: ConfigurationLocation,
  running: Configuration,
  body: unknown,
  options: ChangeOptions,
): Promise<SettingsChange> => {
  const path = userSettingsPath(location.home)
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const { change, userText } = await decide(location, running, body, options)
    if (change.status !== 'accepted' || !change.userValuesChanged) return change
    const text = userSettingsText(userText, change.userValues)
    if ((await replaceFile(path, text, userText)) === 'written') return change
    await setTimeout(Math.random() * PAUSE_MS_MAX)
  }
  throw new ConfigurationFileError(`${path} is being changed by other processes: try again`)
}

const decide = async (
  location: ConfigurationLocation,
  running: Configuration,
  body: unknown,
  { insecureOk, locked = {}, remote }: ChangeOptions,
): Promise<{ readonly change: SettingsChange; readonly userText: string | null }> => {
  const read = await readSources(location)
  if (read.status === 'broken') {
    const msg = `must wait: ${read.problems.join('; ')}`
    return {
      userText: null,
      change: { status: 'refused', faults: [{ loc: ['body'], msg, type: 'conflict' }] },
    }
  }
  const { layers, userText } = read.sources
  const request = { body, layers, running, insecureOk, locked, prefix: ['body'] }
  const isInHome = (file: string): boolean => isInside(location.home, file)
  const rules = remote === undefined ? {} : { remote: { ...remote, isInHome } }
  return { userText, change: changeUserSettings({ ...request, ...rules }) }
}

/** Relative paths are relative to the home folder. */
const isInside = (folder: string, file: string): boolean => {
  const path = relative(folder, resolve(folder, file))
  return path !== '' && !isAbsolute(path) && path.split(sep)[0] !== '..' && !file.includes('\0')
}
