import { reachesLevel } from '../../core/trading/watch.ts'
import { canonicalSymbol } from '../../core/shared/symbol.ts'
import type { Tick } from '../../ports/market-feed.ts'
import type { Executor } from '../executor.ts'

export interface TickDeskDependencies {
  readonly engine: Executor
  readonly onError: (what: string, error?: unknown) => void
}

/** A price that led to nothing (a lockdown, a jump that nobody confirmed) is not asked about again at once. */
const PAUSE_MS = 1000

/**
 * Holds every price between two bars against stops and targets. Almost all of them cost a comparison; only one that
 * reaches a level becomes a command.
 */
export class TickMonitor {
  readonly #engine: Executor
  readonly #onError: TickDeskDependencies['onError']
  readonly #followed = new Map<string, Followed>()
  readonly #underWay = new Map<string, Promise<void>>()

  constructor({ engine, onError }: TickDeskDependencies) {
    this.#engine = engine
    this.#onError = onError
  }

  take(tick: Tick): void {
    const { state } = this.#engine
    if (state.trading.book.count === 0) return
    const symbol = canonicalSymbol(tick.symbol)
    if (!reachesLevel(state.trading, symbol, tick.price)) {
      this.#followed.delete(symbol)
      return
    }
    const before = this.#followed.get(symbol)
    if (this.#underWay.has(symbol) || (before !== undefined && tick.atMs < before.pausedUntilMs)) return
    const followed = { price: tick.price, pausedUntilMs: 0 }
    this.#followed.set(symbol, followed)
    this.#underWay.set(symbol, this.#follow(symbol, tick, followed, before?.price ?? null))
  }

  async settled(): Promise<void> {
    await Promise.all(this.#underWay.values())
  }

  async #follow(symbol: string, tick: Tick, followed: Followed, confirms: number | null): Promise<void> {
    const pausedUntilMs = await this.#observe(symbol, tick, confirms)
    this.#underWay.delete(symbol)
    // A price that reached nothing came meanwhile: this one no longer counts for anything.
    if (this.#followed.get(symbol) !== followed) return
    this.#followed.set(symbol, { price: tick.price, pausedUntilMs })
  }

  /** Until when there is no point in asking again. */
  async #observe(symbol: string, { price, atMs }: Tick, confirms: number | null): Promise<number> {
    try {
      const ts = new Date(atMs).toISOString()
      const outcome = await this.#engine.execute({
        kind: 'observe-tick',
        tick: { symbol, price, ts, confirms },
      })
      const isMoot = outcome.status === 'done' && outcome.events.length === 0
      // The second price of a jump may come at once: it is what the first one waits for.
      return isMoot && confirms !== null ? atMs + PAUSE_MS : 0
    } catch (error) {
      this.#onError(`a price of ${symbol} could not be looked at`, error)
      return atMs + PAUSE_MS
    }
  }
}

interface Followed {
  /** The newest that reached a level. */
  readonly price: number
  readonly pausedUntilMs: number
}
