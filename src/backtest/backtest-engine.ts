import { nodeId, type Timestamp } from '../core/shared/brand.ts'
import { usdNumber } from '../core/shared/money.ts'
import { equityOf } from '../core/trading/risk/account.ts'
import { timestampAt } from '../core/shared/time.ts'
import { withoutClosed } from '../core/brain/trades.ts'
import type { Command } from '../core/decide.ts'
import type { Configuration } from '../core/config/schema.ts'
import type { Stamped } from '../core/log/event.ts'
import { run, type BarEvents } from '../core/run.ts'
import type { DecisionContext } from '../core/shared/decision-context.ts'
import { evolve, INITIAL_STATE, type State } from '../core/state.ts'
import type { ExecuteOptions, Executor, Outcome } from '../engine/plan.ts'
import { sha256Hex } from '../engine/sha256.ts'
import type { AccountAtClose } from './account.ts'
import type { Prices } from './prices.ts'
import { RecentKeys } from './recent-keys.ts'

export interface BacktestEngineDependencies {
  readonly configuration: () => Configuration
  readonly version: string
  /** Receives all events of a command, in order. */
  readonly onEvents: (events: readonly Stamped[]) => void
  /** Whether `onEvents` receives the events of bars. */
  readonly barEvents?: BarEvents
}

/**
 * Runs the deciders of the engine at recorded time. Nothing is stored or signed, and only the fold is kept, so the
 * memory of a run does not grow with its events.
 */
export class BacktestEngine implements Executor {
  readonly #dependencies: BacktestEngineDependencies
  readonly #keys = new RecentKeys()
  #state: State = INITIAL_STATE
  #nowMs = 0
  #prices: Prices | null = null
  #ids = 0
  /** The current time as text. Formatted once per time, because a bar needs it several times. */
  #now: Timestamp | null = null
  /** The context of commands without a trace. Made once per time, prices and settings. */
  #untraced: DecisionContext | null = null

  constructor(dependencies: BacktestEngineDependencies) {
    this.#dependencies = dependencies
  }

  readonly log = {
    findByDedupeKeys: (keys: readonly string[]) =>
      Promise.resolve(
        new Map(keys.filter((key) => this.#keys.has(key)).map((key) => [key, { source: null }])),
      ),
  }

  get state(): State {
    return this.#state
  }

  /** The account after the last bars. */
  get account(): AccountAtClose {
    const { trading } = this.#state
    return {
      equityUsd: usdNumber(equityOf(trading)),
      exposureUsd: usdNumber(trading.book.exposure),
      isHolding: trading.book.count > 0,
    }
  }

  now(): number {
    return this.#nowMs
  }

  /** Returns the same ids in the same order in each run. */
  readonly newId = (): string => {
    this.#ids += 1
    return `00000000-0000-7000-8000-${this.#ids.toString(16).padStart(12, '0')}`
  }

  /** Moves the time forward, never back. Without prices, those of the last bars apply. */
  moveTo(ms: number, prices: Prices | null = null): void {
    if (ms > this.#nowMs) {
      this.#nowMs = ms
      this.#now = null
    }
    this.#prices = prices
    this.#untraced = null
  }

  execute(command: Command, { traceId = null }: ExecuteOptions = NO_OPTIONS): Promise<Outcome> | Outcome {
    const { barEvents, onEvents } = this.#dependencies
    const result = run(this.#state, command, this.#contextOf(traceId), barEvents)
    if (result.status === 'refused') return result
    this.#state = withoutEnded(result.state)
    const { events } = result
    if (events.length === 0) return NO_EVENTS
    for (const { dedupeKey, type } of events) {
      // Keys of bars are never looked up.
      if (dedupeKey !== null && type !== 'market.bar.v1') this.#keys.add(dedupeKey)
    }
    onEvents(events)
    return { status: 'done', events, replayed: false }
  }

  #contextOf(traceId: string | null): DecisionContext {
    const configuration = this.#dependencies.configuration()
    const known = this.#untraced
    if (known !== null && known.configuration === configuration)
      return traceId === null ? known : { ...known, traceId }
    this.#untraced = this.#untracedWith(configuration)
    return this.#contextOf(traceId)
  }

  #untracedWith(configuration: Configuration): DecisionContext {
    this.#now ??= timestampAt(this.#nowMs)
    return {
      now: this.#now,
      newId: this.newId,
      traceId: null,
      configuration,
      version: this.#dependencies.version,
      sha256Hex,
      nodeId: BACKTEST_NODE,
      sign: NO_SIGNATURE,
      isSigned: NEVER_SIGNED,
      elapsedMs: NO_TIME,
      prices: this.#prices ?? undefined,
    }
  }

  /** Folds an event of the log at the current time. No decision follows from it at once. */
  replay(event: Stamped): void {
    const replayed = { ...event, seq: this.#state.seq + 1, recordedAt: timestampAt(this.#nowMs) }
    this.#state = evolve(this.#state, replayed)
    this.#dependencies.onEvents([replayed])
  }
}

/** Removes trades that have ended. A cycle of the brain would do it, but rules have no cycles. */
const withoutEnded = (state: State): State => {
  const { learning } = state.brain
  if (learning.trades.closed.length < CLOSED_MAX) return state
  return {
    ...state,
    brain: { ...state.brain, learning: { ...learning, trades: withoutClosed(learning.trades) } },
  }
}

export const BACKTEST_NODE = nodeId('backtest')

const NO_SIGNATURE = (): string => ''
const NEVER_SIGNED = (): boolean => false
const NO_TIME = (): number => 0

const NO_EVENTS: Outcome = { status: 'done', events: [], replayed: false }
const NO_OPTIONS: ExecuteOptions = {}

const CLOSED_MAX = 100
