import type { ServerResponse } from 'node:http'
import type { Configuration } from '../../core/config/schema.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { ApiConnection } from './api-proxy.ts'
import type { BuiltPages } from './pages.ts'
import type { RateLimit } from '../rate-limit.ts'
import type { ShutdownLimits } from '../shutdown.ts'
import type { EndedSessions, Sealer } from './sessions.ts'

/** Dependencies of the dashboard's server. It is an ordinary client of the API. */
export interface DashboardDependencies {
  /** URL of the API, with the path prefix. */
  readonly apiUrl: string
  readonly configuration: () => Configuration
  /** True if an empty token allows access without sign-in. */
  readonly insecureOk: boolean
  /** Secret from which session keys are derived. The same secret after a restart keeps sessions valid. */
  readonly sessionSecret: Uint8Array
  /** Folder with the built pages. */
  readonly folder: string
  /** File with the sessions that were ended by a sign-out. */
  readonly endedSessionsFile: string
  readonly logger: Logger
  readonly clock: Clock
}

export interface DashboardLimits extends ShutdownLimits {
  readonly headersTimeoutMs: number
  readonly requestTimeoutMs: number
  /** Maximum size of the sign-in form. */
  readonly formBytesMax: number
  readonly sessionMs: number
  /** Limit of wrong tokens per address and minute. */
  readonly failedSignInsPerMinute: number
  /** Time limit for the API to check a token. */
  readonly signInTimeoutMs: number
}

export const DASHBOARD_LIMITS: DashboardLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 40_000,
  formBytesMax: 8192,
  sessionMs: 12 * 60 * 60 * 1000,
  failedSignInsPerMinute: 10,
  closeTimeoutMs: 3000,
  restTimeoutMs: 1000,
  signInTimeoutMs: 10_000,
}

/** Dependencies of this server's request handlers. */
export interface DashboardContext {
  readonly dependencies: DashboardDependencies
  readonly limits: DashboardLimits
  readonly pages: BuiltPages
  readonly api: ApiConnection
  readonly sealer: Sealer
  /** Counts wrong tokens per address, to slow down guessing. */
  readonly failedSignIns: RateLimit
  readonly endedSessions: EndedSessions
  /** Open event streams, with the session that opened each; null without sign-in. */
  readonly streams: Map<ServerResponse, string | null>
}
