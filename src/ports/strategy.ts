import type { FeedBar } from '../core/market/bar.ts'
import type { ParameterDescription } from '../core/strategies/parameters.ts'
import type { AccountFacts, StrategyRunOptions } from '../core/strategies/run-strategy.ts'
import type { ParameterValues, StrategyProposal } from '../core/strategies/strategy.ts'

/** A strategy with its parameters that receives bars and proposes trades, wherever its code runs. */
export interface RunningStrategy {
  readonly name: string
  /** Adds closed bars, including those of the warm-up, in the order of time. */
  add(bars: readonly FeedBar[]): void
  /** Whether a bar has closed on which the strategy decides. */
  readonly isDue: boolean
  /**
   * Proposals after the bars so far. Throws or rejects with a `StrategyError` if the strategy fails, takes too long, or
   * returns an invalid answer.
   */
  decide(facts: () => AccountFacts): readonly StrategyProposal[] | Promise<readonly StrategyProposal[]>
  close(): Promise<void>
}

/** Facts about a strategy that are known without running it. */
export interface StrategyDescription {
  readonly name: string
  readonly description: string
  readonly parameters: readonly ParameterDescription[]
  /** Empty if the strategy reads analysis bars. */
  readonly timeframes: readonly string[]
}

/** A strategy that can be run. */
export interface StrategySource extends StrategyDescription {
  /** Rejects with a `StrategyError` that lists the faults of the parameters. */
  open(parameters: ParameterValues, options: StrategyRunOptions): Promise<OpenedStrategy>
  /** Reason why each parameter set is rejected, or null for a valid one. */
  faultsOf(sets: readonly ParameterValues[]): Promise<readonly (string | null)[]>
}

export interface OpenedStrategy extends RunningStrategy {
  /** All parameters, with defaults. */
  readonly parameters: ParameterValues
  /** History that it needs before it trades. */
  readonly warmUp: { readonly bars: number; readonly seconds: number }
}
