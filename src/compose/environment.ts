import { createSystemClock } from '../adapters/platform/clock/system-clock.ts'
import type { EnvironmentVariables } from '../core/config/environment.ts'
import type { Clock } from '../ports/clock.ts'

/** What a process finds around itself: its home folder, and the switches of its environment. */
export interface Environment {
  readonly home: string
  readonly environment: EnvironmentVariables
  readonly clock: Clock
  readonly version: string
  readonly insecureOk: boolean
  readonly devMode: boolean
  readonly masterPassword: string | undefined
}

export const environmentOf = (
  home: string,
  environment: EnvironmentVariables,
  version: string,
): Environment => ({
  home,
  environment,
  clock: createSystemClock(),
  version,
  insecureOk: isOn(environment['SVC_INSECURE_OK']),
  devMode: isOn(environment['SVC_DEV_MODE']),
  masterPassword: environment['SVC_MASTER_PASSWORD'],
})

const isOn = (value: string | undefined): boolean =>
  ['1', 'true', 'yes'].includes(value?.trim().toLowerCase() ?? '')
