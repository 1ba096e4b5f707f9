import type { Configuration } from '../core/config/schema.ts'
import type { FeedBar } from '../core/market/bar.ts'
import { nearest } from '../core/shared/nearest.ts'
import { canonicalSymbol } from '../core/shared/symbol.ts'
import { timestampAt } from '../core/shared/time.ts'
import { BRAIN, BUILT_IN_STRATEGIES, builtInStrategy } from '../core/strategies/built-in.ts'
import { checkedParameters, openDirectly } from '../core/strategies/direct.ts'
import { accountFacts } from '../core/strategies/facts.ts'
import { StrategyError, type ParameterValues, type StrategyProposal } from '../core/strategies/strategy.ts'
import { positionsOf } from '../core/trading/positions/book.ts'
import { isOpenedBy } from '../core/trading/positions/positions.ts'
import type { Executor } from '../engine/plan.ts'
import { proposalOf } from '../engine/market/strategy-runner.ts'
import { runDueCycle } from '../engine/market/schedule.ts'
import type { RunningStrategy } from '../ports/strategy.ts'
import { NO_PRICES, type Prices } from './prices.ts'

/** Decides which trades are made. */
export interface Strategy {
  /** Adds every closed bar, including those of the warm-up. */
  addBars(bars: readonly FeedBar[]): void
  /** Called after all bars that have closed by now were added. `prices`: prices at which orders can be filled now. */
  decide(beforeMs: number, nowMs: number, prices?: Prices): Promise<void> | undefined
  /** Number of decisions that would have traded, but whose symbol has no later bar. */
  unopened(): number
}

/** Name of the brain, a rule, or a strategy of the user. */
export type StrategyName = string

/** Strategies that need no file: the brain, and the rules it is compared with. */
export const STRATEGY_NAMES: readonly string[] = [BRAIN, ...BUILT_IN_STRATEGIES.map(({ name }) => name)]

export interface StrategyDependencies {
  readonly engine: Executor
  readonly configuration: () => Configuration
  /** Parameters of a built-in rule. The brain uses the settings instead. */
  readonly parameters?: ParameterValues
  /** A strategy of the user, if the name is not the name of a built-in one. */
  readonly own?: RunningStrategy | undefined
  /** Receives each proposal, and whether it became an intent to enter. Exits are not reported. */
  readonly onProposal?: (proposal: StrategyProposal, isTaken: boolean) => void
}

export const strategyOf = (name: string, dependencies: StrategyDependencies): Strategy => {
  const { configuration, parameters = {}, own } = dependencies
  checkParameters(name, parameters)
  if (name === BRAIN) return brain(dependencies)
  if (own !== undefined) return traded(own, dependencies)
  const definition = builtInStrategy(name)
  if (definition === undefined) throw new StrategyError(unknownStrategy(name, STRATEGY_NAMES))
  const options = { analysisSeconds: () => configuration().ta.bar_seconds, tradesPast: true }
  return traded(openDirectly(definition, parameters, options), dependencies)
}

export type Parameters = ParameterValues

/**
 * Throws for parameters that a built-in strategy does not accept. Strategies of users check theirs when they are
 * opened.
 */
export const checkParameters = (name: string, parameters: Parameters): void => {
  if (name === BRAIN && Object.keys(parameters).length > 0) throw new StrategyError(BRAIN_PARAMETERS)
  const definition = builtInStrategy(name)
  if (definition !== undefined) checkedParameters(definition, parameters)
}

const BRAIN_PARAMETERS =
  'the brain has no parameters: it follows the settings, such as SVC_BRAIN__MIN_DOMAINS=2 svc backtest'

/** Error message that suggests the intended name, or the intended parameter where a parameter was given as a name. */
export const unknownStrategy = (name: string, known: readonly string[]): string => {
  if (name.includes('='))
    return `no strategy is named ${name}: each parameter has a --set of its own (--set ${name})`
  const meant = nearest(name, known)
  const advice = meant === null ? '' : `, did you mean ${meant}?`
  return `no strategy is named ${name}${advice} (there are ${known.join(', ')})`
}

const brain = (dependencies: StrategyDependencies): Strategy => ({
  addBars: () => undefined,
  decide: (beforeMs, nowMs) => runDueCycle(dependencies, beforeMs, nowMs, { trigger: 'backtest' }),
  // A cycle at the next open decides again.
  unopened: () => 0,
})

/**
 * Executes the proposals of a strategy at the next open. A decision on a symbol without a bar at that time waits for the
 * next open of the symbol, as after the last close before a weekend. A newer decision on the same symbol replaces it.
 */
const traded = (
  strategy: Omit<RunningStrategy, 'close'>,
  { engine, onProposal = NOT_REPORTED }: StrategyDependencies,
): Strategy => {
  let waiting: readonly StrategyProposal[] = NOTHING
  let askedMs = 0
  const facts = () => accountFacts(engine.state.trading, timestampAt(askedMs), strategy.name)
  const trade = async (
    answer: readonly StrategyProposal[] | Promise<readonly StrategyProposal[]>,
    prices: Prices,
  ): Promise<void> => {
    const newest = answer instanceof Promise ? await answer : answer
    const proposals = waiting.length === 0 ? newest : [...withoutReplaced(waiting, newest), ...newest]
    const unpriced = proposals.filter(({ symbol }) => prices.get(canonicalSymbol(symbol)) === null)
    waiting = unpriced
    for (const proposal of proposals) {
      if (unpriced.includes(proposal)) continue
      const wanted = proposalOf(strategy.name, proposal)
      const decided = engine.execute({ kind: 'propose-trade', proposal: wanted })
      const outcome = decided instanceof Promise ? await decided : decided
      const [first] = outcome.status === 'done' ? outcome.events : []
      if (first === undefined) onProposal(proposal, false)
      else if (first.type === 'execution.trade_intent.v1') onProposal(proposal, true)
    }
  }
  return {
    addBars: (bars) => strategy.add(bars),
    decide: (_, nowMs, prices = NO_PRICES) => {
      askedMs = nowMs
      const answer = strategy.isDue ? strategy.decide(facts) : NOTHING
      return answer === NOTHING && waiting.length === 0 ? undefined : trade(answer, prices)
    },
    unopened: () => {
      const { trading } = engine.state
      return waiting.filter(({ symbol, side }) => {
        const held = positionsOf(trading, canonicalSymbol(symbol))
        const own = held.filter((position) => isOpenedBy(position, strategy.name))
        return own.some(({ terms }) => terms.direction !== side) || (side !== 'flat' && held.length === 0)
      }).length
    },
  }
}

const NOT_REPORTED = (): void => undefined

const withoutReplaced = (
  waiting: readonly StrategyProposal[],
  newest: readonly StrategyProposal[],
): readonly StrategyProposal[] =>
  waiting.filter(({ symbol }) => !newest.some((proposal) => proposal.symbol === symbol))

const NOTHING: readonly StrategyProposal[] = []
