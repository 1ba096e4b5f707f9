import type { JsonObject } from '../shared/json.ts'
import { asValues } from './layers.ts'
import { type Configuration, configurationSchema } from './schema.ts'
import { configurationHashInput, redactedConfiguration } from './secrets.ts'
import { DEFAULT_CONFIGURATION } from './validate.ts'
import { isJsonObject } from '../shared/json-object.ts'
import { type KeyPath, leavesOf, sameValue, valueAt, withValue } from './values.ts'

/** Sections that decisions depend on. Network addresses and file locations of the service stay out of the log. */
const SECTIONS = [
  'weights',
  'risk',
  'brain',
  'execution',
  'kill_switch',
  'karma',
  'universe',
  'learning',
  'signals',
  'producers',
  'settlement',
  'market',
  'ta',
  'alerts',
  'trace',
] as const satisfies readonly (keyof Configuration)[]

/** Keys that no decision reads. They name places or are long. */
const OMITTED: readonly KeyPath[] = [
  ['execution', 'venue_url'],
  ['market', 'file'],
  ['market', 'sim'],
]

/** Settings that differ from the defaults, recorded in the log so that every decision can be reproduced. */
export const recordedConfiguration = (configuration: Configuration): JsonObject =>
  leavesOf(asValues(redactedConfiguration(configuration)))
    .filter(({ path, value }) => isRecorded(path) && !sameValue(value, valueAt(DEFAULTS, path)))
    .reduce((recorded, { path, value }) => withValue(recorded, path, value), {})

const DEFAULTS = asValues(DEFAULT_CONFIGURATION)

const isRecorded = (path: KeyPath): boolean =>
  SECTIONS.some((name) => name === path[0]) &&
  !OMITTED.some((omitted) => omitted.every((name, index) => name === path[index]))

/** The members of an event that record the configuration in force from that event on. */
export const configurationRecord = (
  configuration: Configuration,
  sha256Hex: (text: string) => string,
): { readonly config_hash: string; readonly configuration: JsonObject } => ({
  config_hash: sha256Hex(configurationHashInput(configuration)),
  configuration: recordedConfiguration(configuration),
})

/** Recorded settings for decisions, and defaults for all others; null for unreadable input. */
export const configurationFrom = (recorded: unknown): Configuration | null => {
  if (!isJsonObject(recorded)) return null
  const values = leavesOf(recorded)
    .filter(({ path }) => isRecorded(path))
    .reduce((all, { path, value }) => withValue(all, path, value), DEFAULTS)
  const parsed = configurationSchema.safeParse(values)
  return parsed.success ? parsed.data : null
}
