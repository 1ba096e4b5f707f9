import { timestampAt } from '../../core/shared/time.ts'
import type { CanonicalSymbol } from '../../core/shared/brand.ts'
import { priceFrom, type Price } from '../../core/shared/money.ts'
import { reachesLevel } from '../../core/trading/positions/watch.ts'
import { canonicalSymbol } from '../../core/shared/symbol.ts'
import type { Tick } from '../../ports/market-feed.ts'
import type { Executor } from '../plan.ts'

export interface TickMonitorDependencies {
  readonly engine: Executor
  readonly onError: (what: string, error?: unknown) => void
}

/** Pause after a price without an effect, for instance during a lockdown or before a jump is confirmed. */
const PAUSE_MS = 1000

/**
 * Compares every price between two bars with stops and targets. Most prices cost one comparison: only a price that
 * reaches a level becomes a command.
 */
export class TickMonitor {
  readonly #dependencies: TickMonitorDependencies
  readonly #followed = new Map<CanonicalSymbol, Followed>()
  readonly #underWay = new Map<CanonicalSymbol, Promise<void>>()

  constructor(dependencies: TickMonitorDependencies) {
    this.#dependencies = dependencies
  }

  take(tick: Tick): void {
    const { state } = this.#dependencies.engine
    if (state.trading.book.count === 0) return
    const symbol = canonicalSymbol(tick.symbol)
    if (!reachesLevel(state.trading, symbol, priceFrom(tick.price))) {
      this.#followed.delete(symbol)
      return
    }
    const before = this.#followed.get(symbol)
    const pauseMs = (before?.pausedUntilMs ?? 0) - tick.atMs
    // A longer pause comes from a price with a wrong time and is ignored.
    if (this.#underWay.has(symbol) || (pauseMs > 0 && pauseMs <= PAUSE_MS)) return
    const followed = { price: priceFrom(tick.price), pausedUntilMs: 0 }
    this.#followed.set(symbol, followed)
    this.#underWay.set(symbol, this.#follow(symbol, tick, followed, before?.price ?? null))
  }

  async settled(): Promise<void> {
    await Promise.all(this.#underWay.values())
  }

  async #follow(
    symbol: CanonicalSymbol,
    tick: Tick,
    followed: Followed,
    confirms: Price | null,
  ): Promise<void> {
    const pausedUntilMs = await this.#observe(symbol, tick, confirms)
    this.#underWay.delete(symbol)
    // A price that reached no level arrived meanwhile, so this one can no longer be confirmed.
    if (this.#followed.get(symbol) !== followed) return
    this.#followed.set(symbol, { price: followed.price, pausedUntilMs })
  }

  /** Returns the time until which the next price waits. */
  async #observe(symbol: CanonicalSymbol, { price, atMs }: Tick, confirms: Price | null): Promise<number> {
    try {
      const ts = timestampAt(atMs)
      const outcome = await this.#dependencies.engine.execute({
        kind: 'observe-tick',
        tick: { symbol, price: priceFrom(price), ts, confirms },
      })
      const isMoot = outcome.status === 'done' && outcome.events.length === 0
      // After the first price of a jump there is no pause: the price that confirms it may follow at once.
      return isMoot && confirms !== null ? atMs + PAUSE_MS : 0
    } catch (error) {
      this.#dependencies.onError(`could not check a price of ${symbol}`, error)
      return atMs + PAUSE_MS
    }
  }
}

interface Followed {
  /** Latest price that reached a level. */
  readonly price: Price
  readonly pausedUntilMs: number
}
