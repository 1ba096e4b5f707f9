import type { FeedBar } from '../core/market/bar.ts'
import type { ParameterDescription } from '../core/strategies/parameters.ts'
import type { AccountFacts, StrategyRunOptions } from '../core/strategies/run-strategy.ts'
import type { ParameterValues, StrategyProposal } from '../core/strategies/strategy.ts'

/** A strategy with its parameters that takes bars and proposes trades, wherever its code runs. */
export interface RunningStrategy {
  readonly name: string
  /** Every closed bar, also those of the warm-up, in the order of time. */
  add(bars: readonly FeedBar[]): void
  /** Whether a bar closed that it decides on. */
  readonly isDue: boolean
  /**
   * What it wants after the bars so far. Throws or rejects with a `StrategyError` if it fails, takes too long, or answers
   * what it must not.
   */
  decide(facts: () => AccountFacts): readonly StrategyProposal[] | Promise<readonly StrategyProposal[]>
  close(): Promise<void>
}

/** What is known of a strategy without running it. */
export interface StrategyDescription {
  readonly name: string
  readonly description: string
  readonly parameters: readonly ParameterDescription[]
  /** Empty: analysis bars. */
  readonly timeframes: readonly string[]
}

/** A strategy that can be run. */
export interface StrategySource extends StrategyDescription {
  /** Rejects with a `StrategyError` that lists what is wrong with the parameters. */
  open(parameters: ParameterValues, options: StrategyRunOptions): Promise<OpenedStrategy>
  /** Of each set of parameters, why it does not take it; null where it does. */
  faultsOf(sets: readonly ParameterValues[]): Promise<readonly (string | null)[]>
}

export interface OpenedStrategy extends RunningStrategy {
  /** All of them, with defaults. */
  readonly parameters: ParameterValues
  /** The past that it wants to see before it trades. */
  readonly warmUp: { readonly bars: number; readonly seconds: number }
}
