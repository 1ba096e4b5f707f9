import type { Configuration } from '../../core/config/schema.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'

/** What the dashboard's server needs of the house. It is a client of the API like any other. */
export interface DashboardDependencies {
  /** Of the API, with the path prefix. */
  readonly apiUrl: string
  readonly configuration: () => Configuration
  /** Whether an empty token means that everybody may come in. */
  readonly insecureOk: boolean
  /** What the keys of sessions follow from. Whoever keeps it over a restart keeps people signed in. */
  readonly sessionSecret: Uint8Array
  /** The built pages. */
  readonly folder: string
  readonly logger: Logger
  readonly clock: Clock
}

export interface DashboardLimits {
  readonly headersTimeoutMs: number
  readonly requestTimeoutMs: number
  /** Of the sign-in form. */
  readonly formBytesMax: number
  readonly sessionMs: number
  /** Wrong tokens from one address in a minute. */
  readonly failedSignInsPerMinute: number
  /** How long a shutdown waits for answers under way. */
  readonly closeTimeoutMs: number
  /** How long the API may take to judge a token. */
  readonly signInTimeoutMs: number
}

export const DASHBOARD_LIMITS: DashboardLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 40_000,
  formBytesMax: 8192,
  sessionMs: 12 * 60 * 60 * 1000,
  failedSignInsPerMinute: 10,
  closeTimeoutMs: 3000,
  signInTimeoutMs: 10_000,
}
