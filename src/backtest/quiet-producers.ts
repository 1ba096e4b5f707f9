import type { Timestamp } from '../core/shared/brand.ts'
import type { MarketView, SymbolView } from '../core/market/readings.ts'
import type { Producers } from '../core/signals/producers.ts'
import type { Producer } from '../ports/producer.ts'

/** Runs of producers that had nothing to report: only that they ran is kept, and folded when somebody reads it. */
export class QuietRuns {
  readonly #runs = new Map<string, Timestamp>()
  #count = 0

  /** How many events are not folded yet. */
  get count(): number {
    return this.#count
  }

  /** Runs a producer. False if it has anything to report, or if its health has to be looked at. */
  take(producer: Producer, producers: Producers, view: MarketView, now: Timestamp): boolean {
    const record = producers.runs.get(producer.name)
    if (record === undefined || record.quarantinedUntil !== null || record.averageDurationMs !== 0)
      return false
    try {
      const run = producer.run(view)
      if (run.status !== 'ran' || run.rows.length > 0) return false
    } catch {
      // It fails again where its failure is recorded.
      return false
    }
    this.#runs.set(producer.name, now)
    this.#count += 1
    return true
  }

  /** When it ran last, if that is not folded yet. */
  lastRunAt(name: string): Timestamp | undefined {
    return this.#runs.get(name)
  }

  foldInto(producers: Producers): Producers {
    const runs = producers.runs.withMutations((known) => {
      for (const [name, at] of this.#runs) {
        const before = known.get(name)
        if (before === undefined) continue
        known.set(name, {
          ...before,
          health: 'ok',
          lastRunAt: at,
          lastSuccessAt: at,
          lastError: null,
          consecutiveFailures: 0,
          errorsInARow: 0,
        })
      }
    })
    this.#runs.clear()
    this.#count = 0
    return { registered: producers.registered, runs }
  }
}

/** The members that are known without folding. */
export type PriceView = Pick<SymbolView, 'close' | 'return1h' | 'variance'>

/** A symbol whose newest price is known before its bars are folded; they are when a producer asks for anything else. */
export class QuietSymbolView implements SymbolView {
  readonly symbol: string
  readonly close: SymbolView['close']
  readonly return1h: number | null
  readonly variance: number | null
  readonly #whole: () => SymbolView

  constructor(symbol: string, { close, return1h, variance }: PriceView, whole: () => SymbolView) {
    this.symbol = symbol
    this.close = close
    this.return1h = return1h
    this.variance = variance
    this.#whole = whole
  }

  get analysisBars(): SymbolView['analysisBars'] {
    return this.#whole().analysisBars
  }

  get return24h(): number | null {
    return this.#whole().return24h
  }

  get volume24hUsd(): number | null {
    return this.#whole().volume24hUsd
  }

  get fundingAnnualized(): number | null {
    return this.#whole().fundingAnnualized
  }

  get basisAnnualized(): number | null {
    return this.#whole().basisAnnualized
  }

  get openInterestUsd(): number | null {
    return this.#whole().openInterestUsd
  }

  get openInterestChangePct(): number | null {
    return this.#whole().openInterestChangePct
  }

  get bidDepthUsd(): number | null {
    return this.#whole().bidDepthUsd
  }

  get askDepthUsd(): number | null {
    return this.#whole().askDepthUsd
  }

  get fearGreed(): number | null {
    return this.#whole().fearGreed
  }

  get fearGreedChange7d(): number | null {
    return this.#whole().fearGreedChange7d
  }
}
