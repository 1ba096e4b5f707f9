import { type CanonicalSymbol, nodeId } from '../core/shared/brand.ts'
import { timestampAt } from '../core/shared/time.ts'
import { yieldToEventLoop } from '../ports/yield-to-event-loop.ts'
import type { Command } from '../core/decide.ts'
import type { Configuration } from '../core/config/schema.ts'
import type { Stamped } from '../core/log/event.ts'
import type { Quote } from '../core/shared/quote.ts'
import { run } from '../core/run.ts'
import { evolve, INITIAL_STATE, type State } from '../core/state.ts'
import type { ExecuteOptions, Executor } from '../engine/plan.ts'
import type { Outcome } from '../engine/plan.ts'
import { sha256Hex } from '../engine/sha256.ts'
import type { Timer } from '../ports/timer.ts'

export interface BacktestEngineDependencies {
  readonly configuration: () => Configuration
  readonly version: string
  /** All events of a command, in order. */
  readonly onEvents: (events: readonly Stamped[]) => void
}

/** Prices at which orders can be filled now; null where a symbol has none. */
export type Prices = ReadonlyMap<CanonicalSymbol, Quote | null>

/**
 * The deciders of the engine at recorded time. Nothing is stored or signed, and only the fold is kept, so the memory of
 * a run does not grow with its events.
 */
export class BacktestEngine implements Executor {
  readonly #dependencies: BacktestEngineDependencies
  #keys = new Set<string>()
  #olderKeys: ReadonlySet<string> = new Set()
  #state: State = INITIAL_STATE
  #nowMs = 0
  #prices: Prices | null = null
  #ids = 0

  constructor(dependencies: BacktestEngineDependencies) {
    this.#dependencies = dependencies
  }

  readonly log = {
    findByDedupeKeys: (keys: readonly string[]) =>
      Promise.resolve(new Map(keys.filter((key) => this.#isKnown(key)).map((key) => [key, key]))),
  }

  get state(): State {
    return this.#state
  }

  now(): number {
    return this.#nowMs
  }

  /** The same ids in the same order in each run. */
  newId(): string {
    this.#ids += 1
    return `00000000-0000-7000-8000-${this.#ids.toString(16).padStart(12, '0')}`
  }

  /** Moves the time on, never back. Without prices, those of the last bars count. */
  moveTo(ms: number, prices: Prices | null = null): void {
    this.#nowMs = Math.max(this.#nowMs, ms)
    this.#prices = prices
  }

  execute(command: Command, { traceId = null }: ExecuteOptions = {}): Promise<Outcome> {
    const result = run(this.#state, command, {
      now: timestampAt(this.#nowMs),
      newId: () => this.newId(),
      traceId,
      configuration: this.#dependencies.configuration(),
      version: this.#dependencies.version,
      sha256Hex,
      nodeId: BACKTEST_NODE,
      sign: () => '',
      isSigned: () => false,
      elapsedMs: () => 0,
      ...(this.#prices === null ? {} : { prices: this.#prices }),
    })
    if (result.status === 'refused') return Promise.resolve(result)
    this.#state = result.state
    for (const { dedupeKey } of result.events) if (dedupeKey !== null) this.#remember(dedupeKey)
    this.#dependencies.onEvents(result.events)
    return Promise.resolve({ status: 'done', events: result.events, replayed: false })
  }

  /** Folds an event of the log at the current time; no decision follows from it at once. */
  replay(event: Stamped): void {
    const replayed = { ...event, seq: this.#state.seq + 1, recordedAt: timestampAt(this.#nowMs) }
    this.#state = evolve(this.#state, replayed)
    this.#dependencies.onEvents([replayed])
  }

  /** Only recent events can be repeated, so old keys are dropped, many at a time. */
  #remember(key: string): void {
    if (this.#keys.size >= KEYS_KEPT) {
      this.#olderKeys = this.#keys
      this.#keys = new Set()
    }
    this.#keys.add(key)
  }

  #isKnown(key: string): boolean {
    return this.#keys.has(key) || this.#olderKeys.has(key)
  }
}

export const BACKTEST_NODE = nodeId('backtest')

const KEYS_KEPT = 10_000

/** A timer without waiting: each wait ends at once and moves the time on. */
export class RecordedTimer implements Timer {
  #nowMs: number
  #yieldedMs = performance.now()

  constructor(startMs: number) {
    this.#nowMs = startMs
  }

  now(): number {
    return this.#nowMs
  }

  async wait(ms: number): Promise<void> {
    this.#nowMs += Math.max(0, ms)
    // Signals and the progress bar need the event loop.
    if (performance.now() - this.#yieldedMs < YIELD_MS) return
    await yieldToEventLoop()
    this.#yieldedMs = performance.now()
  }
}

const YIELD_MS = 20
