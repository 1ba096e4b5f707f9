import type { Engine } from '../../engine/engine.ts'
import type { IntegrityReport } from '../../engine/integrity/report.ts'
import type { VerifyProgress } from '../../engine/integrity/verify.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ConfigurationStore } from '../../ports/config-file.ts'
import type { FeedStatus } from '../../ports/market-feed.ts'
import type { Logger } from '../../ports/logger.ts'
import type { McpEndpoint } from '../mcp-exchange.ts'

/** What the HTTP surface needs of the house it opens to the world. */
export interface HttpDependencies {
  readonly engine: Engine
  readonly configuration: ConfigurationStore
  readonly integrity: IntegrityCheck
  /** What agents talk to; this surface only opens the door. */
  readonly mcp: McpEndpoint
  readonly logger: Logger
  readonly clock: Clock
  readonly version: string
  /** Milliseconds since 1970, UTC. */
  readonly startedAtMs: number
  /** Whether an empty token means that everybody may come in. */
  readonly insecureOk: boolean
  /** What the check at the start found. */
  readonly chainOk: boolean
  /** Of the feed that this process drives; null where it drives none. */
  readonly feedStatus: () => FeedReport | null
}

export type FeedReport = FeedStatus & { readonly feed: string }

export interface IntegrityCheck {
  verify(request: IntegrityRequest, onProgress?: (progress: VerifyProgress) => void): Promise<IntegrityReport>
}

export interface IntegrityRequest {
  readonly mode: 'fast' | 'full'
  /** How many of the newest events `fast` looks at. */
  readonly n: number
}

export interface HttpLimits {
  readonly headersTimeoutMs: number
  readonly bodyTimeoutMs: number
  readonly handlerTimeoutMs: number
  /** How long a shutdown waits for requests under way. */
  readonly closeTimeoutMs: number
  readonly bodyBytesMax: number
  /** How often slow connections are looked for. */
  readonly slowCheckMs: number
  /** How long requests are taken in before the rest of the process has its turn. */
  readonly turnMs: number
}

export const HTTP_LIMITS: HttpLimits = {
  headersTimeoutMs: 10_000,
  bodyTimeoutMs: 30_000,
  handlerTimeoutMs: 30_000,
  closeTimeoutMs: 10_000,
  bodyBytesMax: 1024 * 1024,
  slowCheckMs: 1000,
  turnMs: 1,
}
