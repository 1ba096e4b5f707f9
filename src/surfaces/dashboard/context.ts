import type { ServerResponse } from 'node:http'
import type { Configuration } from '../../core/config/schema.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { ApiConnection } from './api-proxy.ts'
import type { BuiltPages } from './pages.ts'
import type { RateLimit } from '../rate-limit.ts'
import type { ShutdownLimits } from '../shutdown.ts'
import type { EndedSessions, Sealer } from './sessions.ts'

/** What the dashboard's server needs. It is a client of the API like any other. */
export interface DashboardDependencies {
  /** Of the API, with the path prefix. */
  readonly apiUrl: string
  readonly configuration: () => Configuration
  /** Whether an empty token allows access without sign-in. */
  readonly insecureOk: boolean
  /** Session keys are derived from it. The same secret after a restart keeps sessions valid. */
  readonly sessionSecret: Uint8Array
  /** The built pages. */
  readonly folder: string
  /** Keeps the sessions that were ended by a sign-out. */
  readonly endedSessionsFile: string
  readonly logger: Logger
  readonly clock: Clock
}

export interface DashboardLimits extends ShutdownLimits {
  readonly headersTimeoutMs: number
  readonly requestTimeoutMs: number
  /** Of the sign-in form. */
  readonly formBytesMax: number
  readonly sessionMs: number
  /** Wrong tokens per address and minute. */
  readonly failedSignInsPerMinute: number
  /** How long the API may take to check a token. */
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

/** What request handlers of this server need. */
export interface DashboardContext {
  readonly dependencies: DashboardDependencies
  readonly limits: DashboardLimits
  readonly pages: BuiltPages
  readonly api: ApiConnection
  readonly sealer: Sealer
  /** Slows down guessing: counts wrong tokens per address. */
  readonly failedSignIns: RateLimit
  readonly endedSessions: EndedSessions
  /** Open event streams, with the session that opened each; null without sign-in. */
  readonly streams: Map<ServerResponse, string | null>
}
