import manifest from '../../package.json' with { type: 'json' }
import { createSteadyTime } from '../adapters/platform/clock/steady-time.ts'
import { createSystemClock } from '../adapters/platform/clock/system-clock.ts'
import { variableOf, type EnvironmentVariables } from '../core/config/environment.ts'
import { asValues } from '../core/config/layers.ts'
import { secretTexts } from '../core/config/secrets.ts'
import { valueAt } from '../core/config/values.ts'
import type { Clock, SteadyTime } from '../ports/clock.ts'
import type { Configuration } from '../core/config/schema.ts'

/** The release of this code. The bundle contains it as text. */
export const VERSION = manifest.version

/** The environment of a process: its home folder, variables and clock. */
export interface Environment {
  readonly home: string
  readonly variables: EnvironmentVariables
  readonly clock: Clock
  /** Time source of the clock. */
  readonly time: SteadyTime
  readonly version: string
  readonly insecureOk: boolean
  readonly devMode: boolean
  readonly masterPassword: string | undefined
  /** Receives every log line instead of standard error. */
  readonly writeLog?: (line: string) => void
}

export const environmentOf = (
  home: string,
  variables: EnvironmentVariables,
  version: string,
): Environment => {
  const time = createSteadyTime()
  return {
    home,
    variables,
    clock: createSystemClock(() => time.now()),
    time,
    version,
    insecureOk: isOn(variables['SVC_INSECURE_OK']),
    devMode: isOn(variables['SVC_DEV_MODE']),
    masterPassword: variables['SVC_MASTER_PASSWORD'],
  }
}

const isOn = (value: string | undefined): boolean =>
  ['1', 'true', 'yes'].includes(value?.trim().toLowerCase() ?? '')

/** Values that logs and messages must not show. */
export const knownSecretsOf = (
  { variables, masterPassword }: Environment,
  configuration: Configuration | null,
): readonly string[] =>
  [
    masterPassword,
    variables['SVC_API_TOKEN'],
    ...secretTexts((path) => variables[variableOf(path)]),
    ...(configuration === null ? [] : secretTexts((path) => valueAt(asValues(configuration), path))),
  ].filter((secret): secret is string => secret !== undefined && secret !== '')

/** Closes resources in reverse order of opening. */
export class Closers {
  readonly #close: (() => Promise<void>)[] = []

  add(close: () => Promise<void>): void {
    this.#close.push(close)
  }

  /** Closes everything, even if a resource fails to close. Then rejects with the first error. */
  async closeAll(): Promise<void> {
    const errors: unknown[] = []
    for (let close = this.#close.pop(); close !== undefined; close = this.#close.pop()) {
      try {
        await close()
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length > 0) throw errors[0]
  }
}

/** Opens resources. If opening throws, everything opened so far is closed. */
export const opening = async <Opened>(open: (closers: Closers) => Promise<Opened>): Promise<Opened> => {
  const closers = new Closers()
  try {
    return await open(closers)
  } catch (error) {
    await closers.closeAll()
    throw error
  }
}
