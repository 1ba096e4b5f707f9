import type { Proposal } from '../../core/brain/propose-trade.ts'
import type { Configuration } from '../../core/config/schema.ts'
import type { FeedBar } from '../../core/market/bar.ts'
import { signalId, type SignalId } from '../../core/shared/brand.ts'
import { cronOf } from '../../core/shared/cron.ts'
import { canonicalSymbol } from '../../core/shared/symbol.ts'
import { timestampAt } from '../../core/shared/time.ts'
import { STRATEGY_TYPE } from '../../core/signal-types/strategy.ts'
import { accountFacts } from '../../core/strategies/facts.ts'
import type { AccountFacts } from '../../core/strategies/run-strategy.ts'
import type { ParameterValues, StrategyProposal } from '../../core/strategies/strategy.ts'
import type { OpenedStrategy } from '../../ports/strategy.ts'
import { OwnTask, type OwnTaskDependencies } from './own-task.ts'

export interface StrategyRunnerDependencies extends OwnTaskDependencies {
  readonly configuration: () => Configuration
  /** Rejects if there is no such strategy, or if its parameters are invalid. */
  readonly open: (name: string, parameters: ParameterValues) => Promise<OpenedStrategy>
  /** Stored bars that closed by this time, oldest first, covering at least this length if there are enough. */
  readonly pastBars: (untilMs: number, lengthMs: number) => Promise<readonly FeedBar[]>
}

/** The proposal that the engine executes for a trade of a strategy. */
export const proposalOf = (
  rule: string,
  { side, ...wanted }: StrategyProposal,
  call?: SignalId,
): Proposal => ({
  rule,
  direction: side,
  ...wanted,
  ...(call === undefined ? {} : { signalId: call }),
})

/**
 * Runs the strategies of the settings on each stored bar. Each is a producer under its name: its proposals are calls
 * that are judged, and its failures are counted as failed runs. A slow strategy delays no other part of the engine.
 */
export class StrategyRunner {
  readonly #dependencies: StrategyRunnerDependencies
  readonly #tasks = new Map<string, StrategyTask>()
  #isClosed = false

  constructor(dependencies: StrategyRunnerDependencies) {
    this.#dependencies = dependencies
  }

  /** Called after these bars were stored. Resolves once all strategies have decided. Callers need not wait for it. */
  async take(bars: readonly FeedBar[]): Promise<void> {
    if (this.#isClosed) return
    const wanted = wantedOf(this.#dependencies.configuration())
    for (const [name, task] of this.#tasks) {
      if (wanted.get(name)?.key === task.wanted.key) continue
      this.#tasks.delete(name)
      task.close().catch((error: unknown) => this.#dependencies.onError(`could not stop ${name}`, error))
    }
    for (const [name, settings] of wanted) {
      const task = this.#tasks.get(name) ?? new StrategyTask(name, settings, this.#dependencies)
      this.#tasks.set(name, task)
    }
    await Promise.all([...this.#tasks.values()].map((task) => task.take(bars)))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#tasks.values()].map((task) => task.close()))
  }
}

interface WantedStrategy {
  /** Identifies the settings. Changed settings have another key. */
  readonly key: string
  readonly parameters: ParameterValues
  /** Symbols that the strategy trades; null for the whole universe. */
  readonly symbols: ReadonlySet<string> | null
}

const wantedOf = ({ strategies }: Configuration): ReadonlyMap<string, WantedStrategy> =>
  new Map(
    Object.entries(strategies)
      .filter(([, { enabled }]) => enabled)
      .map(([name, { parameters, symbols }]) => [
        name,
        {
          key: JSON.stringify([parameters, symbols]),
          parameters,
          symbols: symbols.length === 0 ? null : new Set(symbols.map(canonicalSymbol)),
        },
      ]),
  )

/**
 * Limit of waiting bars. Beyond it all but the newest are dropped, and the strategy restarts with history from the log.
 */
const WAITING_BARS_MAX = 20_000

/** One strategy of the settings. */
class StrategyTask {
  readonly wanted: WantedStrategy
  readonly #name: string
  readonly #dependencies: StrategyRunnerDependencies
  readonly #task: OwnTask<OpenedStrategy>
  /** Id of the latest call on each symbol and side. A repeated call is stored once per interval. */
  readonly #calls = new Map<string, SignalId>()
  #waiting: FeedBar[] = []

  constructor(name: string, wanted: WantedStrategy, dependencies: StrategyRunnerDependencies) {
    this.#name = name
    this.wanted = wanted
    this.#dependencies = dependencies
    this.#task = new OwnTask(
      {
        kind: 'strategy',
        name,
        open: () => dependencies.open(name, wanted.parameters),
        // Its calls are judged under this name.
        registrationOf: (opened) => ({
          domain: 'technical',
          schedule: cronOf(opened?.warmUp.seconds ?? 60),
        }),
      },
      dependencies,
    )
  }

  take(bars: readonly FeedBar[]): Promise<void> {
    const { symbols } = this.wanted
    for (const bar of bars)
      if (symbols === null || symbols.has(canonicalSymbol(bar.symbol))) this.#waiting.push(bar)
    if (this.#waiting.length > WAITING_BARS_MAX) this.#waiting = this.#waiting.slice(-1)
    return this.#task.begin(() => this.#work())
  }

  close(): Promise<void> {
    return this.#task.close()
  }

  async #work(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#task.isClosed) {
      const bars = this.#waiting
      this.#waiting = []
      await this.#task.attempt((startedMs) => this.#runOn(bars, startedMs))
    }
  }

  async #runOn(bars: readonly FeedBar[], startedMs: number): Promise<void> {
    if (!this.#task.mayRun()) return
    const facts = (): AccountFacts =>
      accountFacts(this.#dependencies.engine.state.trading, timestampAt(startedMs), this.#name)
    const opened = this.#task.opened ?? (await this.#open(bars, facts))
    opened.add(bars)
    if (!opened.isDue) return
    const proposals = await opened.decide(facts)
    if (!this.#task.isClosed) await this.#propose(proposals, startedMs)
  }

  /** Opens the strategy and feeds it the history that it needs before these bars. */
  async #open(bars: readonly FeedBar[], facts: () => AccountFacts): Promise<OpenedStrategy> {
    const opened = await this.#task.open()
    const firstMs = Math.min(...bars.map(({ open_ts: openTs }) => Date.parse(openTs)))
    const { bars: count, seconds } = opened.warmUp
    const past = await this.#dependencies.pastBars(firstMs, (count + 1) * seconds * 1000)
    const { symbols } = this.wanted
    opened.add(
      past
        .filter(({ symbol }) => symbols === null || symbols.has(canonicalSymbol(symbol)))
        .map((bar) => ({ ...bar, backfill: true })),
    )
    // Not recorded as a run: a strategy that failed a minute ago, and will fail again on its next bar, would look
    // healthy until then.
    if (opened.isDue) await opened.decide(facts)
    return opened
  }

  async #propose(proposals: readonly StrategyProposal[], startedMs: number): Promise<void> {
    const { engine, clock, producerRunner } = this.#dependencies
    const calls = proposals.filter(({ side }) => side !== 'flat')
    const events = await producerRunner.record({
      name: this.#name,
      schedule: this.#task.registration.schedule,
      rows: calls.map((call) => ({ type: STRATEGY_TYPE, payload: callPayload(call) })),
      end: 'usable',
      error: null,
      durationMs: clock.now() - startedMs,
    })
    for (const { type, id, payload } of events) {
      const { symbol, direction } = payload
      if (type === STRATEGY_TYPE && typeof symbol === 'string' && typeof direction === 'string')
        this.#calls.set(`${symbol}|${direction}`, signalId(id))
    }
    for (const proposal of proposals) {
      const call = this.#calls.get(`${proposal.symbol}|${directionOf(proposal)}`)
      await engine.execute({ kind: 'propose-trade', proposal: proposalOf(this.#name, proposal, call) })
    }
  }
}

const directionOf = ({ side }: StrategyProposal): string => (side === 'long' ? 'bullish' : 'bearish')

const callPayload = (proposal: StrategyProposal) => ({
  symbol: proposal.symbol,
  direction: directionOf(proposal),
  conviction: proposal.conviction,
  ...(proposal.reason === undefined ? {} : { rationale: proposal.reason }),
})
