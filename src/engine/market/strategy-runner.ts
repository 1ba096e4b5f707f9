import type { Proposal } from '../../core/brain/propose-trade.ts'
import type { Configuration } from '../../core/config/schema.ts'
import type { FeedBar } from '../../core/market/bar.ts'
import { signalId, type SignalId } from '../../core/shared/brand.ts'
import { cronOf } from '../../core/shared/cron.ts'
import { canonicalSymbol } from '../../core/shared/symbol.ts'
import { timestampAt } from '../../core/shared/time.ts'
import { STRATEGY_TYPE } from '../../core/signal-types/strategy.ts'
import { mayRun, ownEndpoint } from '../../core/signals/producers.ts'
import { accountFacts } from '../../core/strategies/facts.ts'
import type { ParameterValues, StrategyProposal } from '../../core/strategies/strategy.ts'
import type { Clock } from '../../ports/clock.ts'
import type { OpenedStrategy } from '../../ports/strategy.ts'
import type { Executor } from '../plan.ts'
import type { ProducerRunner } from './producer-runner.ts'

export interface StrategyRunnerDependencies {
  readonly engine: Executor
  readonly clock: Clock
  readonly configuration: () => Configuration
  readonly producerRunner: ProducerRunner
  /** Rejects if there is no such strategy, or if its parameters are wrong. */
  readonly open: (name: string, parameters: ParameterValues) => Promise<OpenedStrategy>
  /** Stored bars that closed by this time, oldest first: at least so long a past, if there is one. */
  readonly pastBars: (untilMs: number, lengthMs: number) => Promise<readonly FeedBar[]>
  readonly onError: (what: string, error: unknown) => void
}

/** What the engine is asked for when a strategy wants a trade. */
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
 * Runs the strategies of the settings on each stored bar. Each is a producer by its name: its proposals are calls that are
 * judged, and its failures are runs that are counted. Nobody waits for one that takes long.
 */
export class StrategyRunner {
  readonly #dependencies: StrategyRunnerDependencies
  readonly #tasks = new Map<string, StrategyTask>()
  #isClosed = false

  constructor(dependencies: StrategyRunnerDependencies) {
    this.#dependencies = dependencies
  }

  /** After these bars were stored. Resolves when all strategies have decided; who does not want to wait, does not. */
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

interface Wanted {
  /** Another one for other settings. */
  readonly key: string
  readonly parameters: ParameterValues
  /** Null for the whole universe. */
  readonly symbols: ReadonlySet<string> | null
}

const wantedOf = ({ strategies }: Configuration): ReadonlyMap<string, Wanted> =>
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

/** More bars than this wait for nobody: the strategy begins anew, from the log. */
const WAITING_BARS_MAX = 20_000

/** One strategy of the settings, from its opening to its failure and again. */
class StrategyTask {
  readonly wanted: Wanted
  readonly #name: string
  readonly #dependencies: StrategyRunnerDependencies
  /** The newest call on each symbol and side: a repeated one is stored once per interval. */
  readonly #calls = new Map<string, SignalId>()
  #waiting: FeedBar[] = []
  #opened: OpenedStrategy | null = null
  #underWay: Promise<void> = Promise.resolve()
  #isBusy = false
  #isClosed = false

  constructor(name: string, wanted: Wanted, dependencies: StrategyRunnerDependencies) {
    this.#name = name
    this.wanted = wanted
    this.#dependencies = dependencies
  }

  take(bars: readonly FeedBar[]): Promise<void> {
    const { symbols } = this.wanted
    for (const bar of bars)
      if (symbols === null || symbols.has(canonicalSymbol(bar.symbol))) this.#waiting.push(bar)
    if (this.#waiting.length > WAITING_BARS_MAX) this.#waiting = this.#waiting.slice(-1)
    if (this.#isBusy) return this.#underWay
    this.#isBusy = true
    // Where the store is away, not even a failure can be recorded.
    const { onError } = this.#dependencies
    this.#underWay = this.#work()
      .catch((error: unknown) => onError(`could not run the strategy ${this.#name}`, error))
      .finally(() => {
        this.#isBusy = false
      })
    return this.#underWay
  }

  async close(): Promise<void> {
    this.#isClosed = true
    // A strategy that hangs is not waited for.
    await this.#end()
    await this.#underWay
    await this.#end()
  }

  async #work(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#isClosed) {
      const bars = this.#waiting
      this.#waiting = []
      const startedMs = this.#dependencies.clock.now()
      try {
        await this.#runOn(bars)
      } catch (error) {
        if (this.#isClosed) return
        await this.#fail(error, startedMs)
      }
    }
  }

  async #runOn(bars: readonly FeedBar[]): Promise<void> {
    const { engine, clock } = this.#dependencies
    const startedMs = clock.now()
    const record = engine.state.signals.producers.runs.get(this.#name)
    if (!mayRun(record, timestampAt(startedMs))) return
    const opened = this.#opened ?? (await this.#open(bars))
    opened.add(bars)
    if (!opened.isDue) return
    const now = timestampAt(startedMs)
    const proposals = await opened.decide(() => accountFacts(engine.state.trading, now, this.#name))
    if (this.#isClosed) return
    await this.#propose(opened, proposals, startedMs)
  }

  /** With the past that it needs: that of these bars it gets by itself. */
  async #open(bars: readonly FeedBar[]): Promise<OpenedStrategy> {
    const { open, pastBars } = this.#dependencies
    const opened = await open(this.#name, this.wanted.parameters)
    this.#opened = opened
    if (this.#isClosed) throw new Error('it is closed')
    await this.#register(opened)
    const firstMs = Math.min(...bars.map(({ open_ts: openTs }) => Date.parse(openTs)))
    const { bars: count, seconds } = opened.warmUp
    const past = await pastBars(firstMs, (count + 1) * seconds * 1000)
    const { symbols } = this.wanted
    opened.add(
      past
        .filter(({ symbol }) => symbols === null || symbols.has(canonicalSymbol(symbol)))
        .map((bar) => ({ ...bar, backfill: true })),
    )
    return opened
  }

  /** As an author: under this name its calls are judged. */
  async #register({ warmUp }: OpenedStrategy): Promise<void> {
    const { engine } = this.#dependencies
    const endpoint = ownEndpoint('strategy', this.#name)
    const known = engine.state.signals.producers.registered.get(this.#name)
    if (known?.endpoint === endpoint) return
    const producer = { name: this.#name, domain: 'technical', endpoint, schedule: cronOf(warmUp.seconds) }
    const outcome = await engine.execute({ kind: 'register-producer', producer, surface: 'system' })
    if (outcome.status === 'refused') throw new Error(outcome.refusal.detail)
  }

  async #propose(
    { warmUp }: OpenedStrategy,
    proposals: readonly StrategyProposal[],
    startedMs: number,
  ): Promise<void> {
    const { engine, clock, producerRunner } = this.#dependencies
    const calls = proposals.filter(({ side }) => side !== 'flat')
    const events = await producerRunner.record({
      name: this.#name,
      schedule: cronOf(warmUp.seconds),
      rows: calls.map((call) => ({
        type: STRATEGY_TYPE,
        payload: callPayload(call),
        ts: null,
        dedupeKey: null,
      })),
      end: 'usable',
      error: null,
      rejected: [],
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

  /** The next bar opens it again, unless it failed too often. */
  async #fail(error: unknown, startedMs: number): Promise<void> {
    const { engine, clock, producerRunner, onError } = this.#dependencies
    onError(`the strategy ${this.#name} failed`, error)
    const schedule = cronOf(this.#opened?.warmUp.seconds ?? 60)
    await this.#end()
    // One that cannot even be opened is not known yet.
    if (!engine.state.signals.producers.registered.has(this.#name)) {
      const producer = {
        name: this.#name,
        domain: 'technical',
        endpoint: ownEndpoint('strategy', this.#name),
        schedule,
      }
      await engine.execute({ kind: 'register-producer', producer, surface: 'system' })
    }
    await producerRunner.record({
      name: this.#name,
      schedule,
      rows: [],
      end: 'error',
      error: (error instanceof Error ? error.message : String(error)).slice(0, 1000),
      rejected: [],
      durationMs: clock.now() - startedMs,
    })
  }

  async #end(): Promise<void> {
    const opened = this.#opened
    this.#opened = null
    await opened?.close()
  }
}

const directionOf = ({ side }: StrategyProposal): string => (side === 'long' ? 'bullish' : 'bearish')

const callPayload = (proposal: StrategyProposal) => ({
  symbol: proposal.symbol,
  direction: directionOf(proposal),
  conviction: proposal.conviction,
  ...(proposal.reason === undefined ? {} : { rationale: proposal.reason }),
})
