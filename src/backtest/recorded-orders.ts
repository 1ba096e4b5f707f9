import type { Command } from '../core/decide.ts'
import type { Configuration } from '../core/config/schema.ts'
import type { Stamped } from '../core/log/event.ts'
import type { Quote } from '../core/shared/quote.ts'
import { run } from '../core/run.ts'
import { evolve, INITIAL_STATE, type State } from '../core/state.ts'
import type { ExecuteOptions, Executor } from '../engine/executor.ts'
import type { Outcome } from '../engine/plan.ts'
import { sha256Hex } from '../engine/sha256.ts'

export interface RecordedDeskDependencies {
  readonly configuration: () => Configuration
  readonly version: string
  /** All that a command led to, in order. */
  readonly onEvents: (events: readonly Stamped[]) => void
}

/** Prices at which something can be had at a moment; null where nothing can. */
export type Prices = ReadonlyMap<string, Quote | null>

/**
 * The deciders of the engine at a time that is told to them. Nothing is stored, signed or kept but the fold, so that
 * the memory of a run does not grow with its events.
 */
export class RecordedOrders implements Executor {
  readonly #parts: RecordedDeskDependencies
  #keys = new Set<string>()
  #olderKeys: ReadonlySet<string> = new Set()
  #state: State = INITIAL_STATE
  #nowMs = 0
  #prices: Prices | null = null
  #ids = 0

  constructor(parts: RecordedDeskDependencies) {
    this.#parts = parts
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

  /** The same ones in the same order, in each run. */
  newId(): string {
    this.#ids += 1
    return `00000000-0000-7000-8000-${this.#ids.toString(16).padStart(12, '0')}`
  }

  /** It is now this late, never earlier, and these are the prices; without them, those of the last bars. */
  at(ms: number, prices: Prices | null = null): void {
    this.#nowMs = Math.max(this.#nowMs, ms)
    this.#prices = prices
  }

  execute(command: Command, { traceId = null }: ExecuteOptions = {}): Promise<Outcome> {
    const result = run(this.#state, command, {
      now: new Date(this.#nowMs).toISOString(),
      newId: () => this.newId(),
      traceId,
      configuration: this.#parts.configuration(),
      version: this.#parts.version,
      sha256Hex,
      nodeId: BACKTEST_NODE,
      sign: () => '',
      elapsedMs: () => 0,
      ...(this.#prices === null ? {} : { prices: this.#prices }),
    })
    if (result.status === 'refused') return Promise.resolve(result)
    this.#state = result.state
    for (const { dedupeKey } of result.events) if (dedupeKey !== null) this.#remember(dedupeKey)
    this.#parts.onEvents(result.events)
    return Promise.resolve({ status: 'done', events: result.events, replayed: false })
  }

  /** Somebody said this now; nothing follows from it at once. */
  retell(event: Stamped): void {
    const retold = { ...event, seq: this.#state.seq + 1, recordedAt: new Date(this.#nowMs).toISOString() }
    this.#state = evolve(this.#state, retold)
    this.#parts.onEvents([retold])
  }

  /** Time goes one way: only what was said lately could be said again, so old keys are let go, many at a time. */
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

export const BACKTEST_NODE = 'backtest'

const KEYS_KEPT = 10_000
