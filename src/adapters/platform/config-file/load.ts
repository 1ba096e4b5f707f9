import { effectiveConfiguration, type SourcedFault } from '../../../core/config/layers.ts'
import type { Configuration } from '../../../core/config/schema.ts'
import { warningsOf } from '../../../core/config/validate.ts'
import { type ReadingPlace, readSources, userSettingsPath } from './sources.ts'

export interface LoadedConfiguration {
  readonly status: 'loaded'
  readonly configuration: Configuration
  readonly warnings: readonly string[]
  readonly userPath: string
  /** The files and variables that say something beside the preset, weak to strong. */
  readonly sources: readonly string[]
}

export type LoadResult =
  | LoadedConfiguration
  /** One line each: where, which key, what is wrong. Never a value. */
  | { readonly status: 'invalid'; readonly problems: readonly string[] }

/** Defaults, files and environment as one configuration. An empty token is the caller's to judge. */
export const loadConfiguration = async (place: ReadingPlace): Promise<LoadResult> => {
  const read = await readSources(place)
  if (read.status === 'broken') return { status: 'invalid', problems: read.problems }
  const { layers, names, warnings } = read.sources
  const effective = effectiveConfiguration(layers)
  if (effective.status === 'invalid') return { status: 'invalid', problems: effective.faults.map(lineOf) }
  return {
    status: 'loaded',
    configuration: effective.configuration,
    warnings: [...warnings, ...warningsOf(effective.configuration)],
    userPath: userSettingsPath(place.home),
    sources: names,
  }
}

const lineOf = ({ source, loc, msg }: SourcedFault): string =>
  `${source === null ? '' : `${source}: `}${loc.join('.')} ${msg}`
