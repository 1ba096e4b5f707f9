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
  /** Of a built-in rule. */
  readonly parameters?: ParameterValues
  /** A strategy of the user, which has its parameters already. */
  readonly own?: RunningStrategy | undefined
  /** Recorded bars, as fast as they are processed; a log has the events between them too. */
  readonly feed: MarketFeed & Partial<Pick<EventFeed, 'surroundingEvents'>>
  readonly producers: readonly Producer[]
  /** Those of the user, for the brain. */
  readonly ownProducers?: OwnProducers | undefined
  readonly settings: Configuration
  readonly version: string
  /** Trades only within this range; null for no limit. */
  readonly fromMs: number | null
  readonly toMs: number | null
  /** Whether the kill switch is reset at every midnight. */
  readonly resetsDaily: boolean
  /** Errors of the feed, as messages for operators. */
  readonly onError: (message: string) => void
  /** Progress: the current time of the run, and how many bars were processed since the last call. */
  readonly onTime?: (nowMs: number, bars: number) => void
  /** With all events, also those of bars at which nothing happens: every bar then takes the long way. */
  readonly onEvents?: (events: readonly Stamped[]) => void
}

export interface BacktestResult {
  /** Of the traded range. */
  readonly firstOpenMs: number | null
  readonly lastCloseMs: number | null
  /** One per symbol and time. */
  readonly bars: number
  readonly resolutionSeconds: number | null
  readonly openPositions: number
  /** Domains that submitted signals, in alphabetical order. */
  readonly signalDomains: readonly string[]
  readonly ownProducers: readonly OwnProducerRuns[]
  readonly account: AccountHistory
}
