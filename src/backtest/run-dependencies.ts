import type { Configuration } from '../core/config/schema.ts'
import type { Stamped } from '../core/log/event.ts'
import type { ParameterValues } from '../core/strategies/strategy.ts'
import type { MarketFeed } from '../ports/market-feed.ts'
import type { Producer } from '../ports/producer.ts'
import type { RunningStrategy } from '../ports/strategy.ts'
import type { AccountHistory } from './account.ts'
import type { EventFeed } from './log-feed.ts'
import type { OwnProducerRuns, OwnProducers } from './own-producers.ts'
import type { StrategyName } from './strategies.ts'

export interface BacktestDependencies {
  readonly strategy: StrategyName
  /** Parameters of a built-in rule. */
  readonly parameters?: ParameterValues
  /** A strategy of the user, opened with its parameters. */
  readonly own?: RunningStrategy | undefined
  /** Recorded bars, delivered as fast as they are processed. A log also has the events between them. */
  readonly feed: MarketFeed & Partial<Pick<EventFeed, 'surroundingEvents'>>
  readonly producers: readonly Producer[]
  /** The user's own producers, included in brain cycles. */
  readonly ownProducers?: OwnProducers | undefined
  readonly settings: Configuration
  readonly version: string
  /** Limits trading to this range; null for no limit. */
  readonly fromMs: number | null
  readonly toMs: number | null
  /** True if the kill switch is reset at every midnight. */
  readonly resetsDaily: boolean
  /** Receives errors of the feed, as messages for operators. */
  readonly onError: (message: string) => void
  /** Receives the current time of the run, and the number of bars processed since the last call. */
  readonly onTime?: (nowMs: number, bars: number) => void
  /** Receives all events. Without it the events of bars are not made, because nothing else reads them. */
  readonly onEvents?: (events: readonly Stamped[]) => void
}

export interface BacktestResult {
  /** Open time of the first bar of the traded range. */
  readonly firstOpenMs: number | null
  readonly lastCloseMs: number | null
  /** Number of bars: one per symbol and time. */
  readonly bars: number
  readonly resolutionSeconds: number | null
  readonly openPositions: number
  /** Domains that submitted signals, in alphabetical order. */
  readonly signalDomains: readonly string[]
  readonly ownProducers: readonly OwnProducerRuns[]
  readonly account: AccountHistory
}
