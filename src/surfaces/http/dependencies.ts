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

/** What the HTTP surface needs to run. */
export interface HttpDependencies {
  readonly engine: Engine
  readonly configuration: ConfigurationStore
  readonly backtests: BacktestRuns
  readonly integrity: IntegrityCheck
  /** Proves that a stored event is in the log, for those who know only the public key. */
  readonly prove: (record: LogRecord) => Promise<Proved>
  /** Proves that the log of a later checkpoint begins with that of an earlier one. Null is the oldest and the newest. */
  readonly proveGrowth: (from: number | null, to: number | null) => Promise<ProvedGrowth>
  /** Answers the messages that are posted to `/mcp`. */
  readonly mcp: McpEndpoint
  readonly logger: Logger
  /** The clock of decisions. */
  readonly clock: Clock
  /** Time that passes while a replay stands still; by default that of the clock. */
  readonly steadyNow?: () => number
  readonly version: string
  /** Milliseconds since 1970, UTC. */
  readonly startedAtMs: number
  /** Whether an empty token in the configuration admits every caller. */
  readonly insecureOk: boolean
  /** The result of the check at startup. */
  readonly chainOk: boolean
  /** Of the feed that this process drives; null where it drives none. */
  readonly feedStatus: () => FeedReport | null
  /** Whether this process drives feeds, schedule and venues. */
  readonly leads: () => boolean
  /** False for a process that only serves clients of the API. */
  readonly mayLead: boolean
  readonly isStarting: () => boolean
}

/** For limits per minute and uptime: the clock of decisions stands still while a replay waits for its next bar. */
export const steadyNowOf = ({ steadyNow, clock }: Pick<HttpDependencies, 'steadyNow' | 'clock'>): number =>
  steadyNow?.() ?? clock.now()

export type FeedReport = FeedStatus & { readonly feed: string }

export interface IntegrityCheck {
  verify(request: IntegrityRequest, onProgress?: (progress: VerifyProgress) => void): Promise<IntegrityReport>
}

export interface IntegrityRequest {
  readonly mode: 'fast' | 'full'
  /** How many of the newest events `fast` checks. */
  readonly n: number
}
