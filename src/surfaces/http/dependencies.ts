import type { BacktestRuns } from '../../backtest/runs/runs.ts'
import type { LogRecord } from '../../core/log/event.ts'
import type { Engine } from '../../engine/engine.ts'
import type { IntegrityReport } from '../../engine/integrity/report.ts'
import type { VerifyProgress } from '../../engine/integrity/verify.ts'
import type { Proved, ProvedGrowth } from '../../engine/proofs/prove.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ConfigurationStore } from '../../ports/config-file.ts'
import type { FeedStatus } from '../../ports/market-feed.ts'
import type { Logger } from '../../ports/logger.ts'
import type { McpEndpoint } from '../mcp-exchange.ts'

/** Dependencies of the HTTP surface. */
export interface HttpDependencies {
  readonly engine: Engine
  readonly configuration: ConfigurationStore
  readonly backtests: BacktestRuns
  readonly integrity: IntegrityCheck
  /** Proves that a stored event is in the log, for verifiers who know only the public key. */
  readonly prove: (record: LogRecord) => Promise<Proved>
  /**
   * Proves that the log of a later checkpoint begins with the log of an earlier one. Null stands for the oldest and the
   * newest checkpoint.
   */
  readonly proveGrowth: (from: number | null, to: number | null) => Promise<ProvedGrowth>
  /** Answers the messages that are posted to `/mcp`. */
  readonly mcp: McpEndpoint
  readonly logger: Logger
  /** Clock of the decisions. */
  readonly clock: Clock
  /** Time that also passes while a replay stands still. Default: the clock. */
  readonly steadyNow?: () => number
  readonly version: string
  /** Milliseconds since 1970, UTC. */
  readonly startedAtMs: number
  /** True if an empty token in the configuration admits every caller. */
  readonly insecureOk: boolean
  /** The result of the check at startup. */
  readonly chainOk: boolean
  /** Status of the feed that this process drives; null if it drives none. */
  readonly feedStatus: () => FeedReport | null
  /** True if this process drives feeds, schedule and venues. */
  readonly leads: () => boolean
  /** False for a process that only serves clients of the API. */
  readonly mayLead: boolean
  readonly isStarting: () => boolean
}

/** Time for limits per minute and uptime: the clock of decisions stands still while a replay waits for its next bar. */
export const steadyNowOf = ({ steadyNow, clock }: Pick<HttpDependencies, 'steadyNow' | 'clock'>): number =>
  steadyNow?.() ?? clock.now()

export type FeedReport = FeedStatus & { readonly feed: string }

export interface IntegrityCheck {
  verify(request: IntegrityRequest, onProgress?: (progress: VerifyProgress) => void): Promise<IntegrityReport>
}

export interface IntegrityRequest {
  readonly mode: 'fast' | 'full'
  /** Number of the newest events that `fast` checks. */
  readonly n: number
}
