import type { ServerResponse } from 'node:http'
import type { ApiLine } from './api.ts'
import type { Attempts } from './attempts.ts'
import type { DashboardDependencies, DashboardLimits } from './dependencies.ts'
import type { BuiltPages } from './pages.ts'
import type { Sealer } from './session.ts'

/** What every answer of this server may need. */
export interface Desk {
  readonly house: DashboardDependencies
  readonly limits: DashboardLimits
  readonly pages: BuiltPages
  readonly line: ApiLine
  readonly sealer: Sealer
  readonly attempts: Attempts
  /** Answers that never end by themselves. */
  readonly streams: Set<ServerResponse>
}
