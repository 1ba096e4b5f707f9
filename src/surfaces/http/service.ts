import type { HttpDependencies } from './dependencies.ts'
import type { Metrics } from './metrics.ts'
import type { StreamHub } from './stream/hub.ts'
import type { Verification } from './verification.ts'

/** What handlers see: the house, and what this server keeps beside it. */
export interface Service extends HttpDependencies {
  readonly metrics: Metrics
  readonly verification: Verification
  /** Whether the newest events verify, as of a moment ago. */
  readonly recentChainOk: () => Promise<boolean>
  readonly streams: StreamHub
  /** The OpenAPI document as JSON. */
  readonly openApiText: () => Promise<string>
}
