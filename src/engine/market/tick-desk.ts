import { reachesLevel } from '../../core/watch.ts'
import { canonicalSymbol } from '../../core/vocabulary/symbol.ts'
import type { Tick } from '../../ports/market-feed.ts'
import type { Engine } from '../engine.ts'

export interface TickDeskParts {
  readonly engine: Engine
  readonly onTrouble: (what: string, error?: unknown) => void
}

/** A price that led to nothing (a lockdown, a jump that nobody confirmed) is not asked about again at once. */
const PAUSE_MS = 1000

/**
 * Holds every price between two bars against stops and targets. Almost all of them cost a comparison; only one that
 * reaches a level becomes a command.
 */
export class TickDesk {
  readonly #engine: Engine
  readonly #onTrouble: TickDeskParts['onTrouble']
  readonly #symbols = new Map<string, Followed>()

  constructor({ engine, onTrouble }: TickDeskParts) {
    this.#engine = engine
    this.#onTrouble = onTrouble
  }

  take(tick: Tick): void {
    const { state } = this.#engine
    if (state.book.count === 0) return
    const symbol = canonicalSymbol(tick.symbol)
    if (!reachesLevel(state, symbol, tick.price)) {
      this.#symbols.delete(symbol)
      return
    }
    const followed = this.#symbols.get(symbol)
    if (followed !== undefined && (followed.underWay !== null || tick.atMs < followed.pausedUntilMs)) return
    const underWay = this.#observe(symbol, tick, followed?.price ?? null)
    this.#symbols.set(symbol, { price: tick.price, pausedUntilMs: 0, underWay })
  }

  async settled(): Promise<void> {
    await Promise.all([...this.#symbols.values()].flatMap(({ underWay }) => underWay ?? []))
  }

  async #observe(symbol: string, { price, atMs }: Tick, confirms: number | null): Promise<void> {
    let pausedUntilMs = 0
    try {
      const ts = new Date(atMs).toISOString()
      const outcome = await this.#engine.execute({
        kind: 'observe-tick',
        tick: { symbol, price, ts, confirms },
      })
      const isMoot = outcome.status === 'done' && outcome.events.length === 0
      // The second price of a jump may come at once: it is what the first one waits for.
      if (isMoot && confirms !== null) pausedUntilMs = atMs + PAUSE_MS
    } catch (error) {
      this.#onTrouble(`a price of ${symbol} could not be looked at`, error)
      pausedUntilMs = atMs + PAUSE_MS
    }
    this.#symbols.set(symbol, { price, pausedUntilMs, underWay: null })
  }
}

interface Followed {
  /** The newest that reached a level. */
  readonly price: number
  readonly pausedUntilMs: number
  readonly underWay: Promise<void> | null
}
