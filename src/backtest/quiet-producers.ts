import type { FeedBar } from '../core/market/bar.ts'
import type { Market } from '../core/market/evolve.ts'
import { marketView, symbolView, type MarketView, type SymbolView } from '../core/market/readings.ts'
import { assert } from '../core/shared/assert.ts'
import { intervalMsOf } from '../core/shared/cron.ts'
import { priceFrom } from '../core/shared/money.ts'
import { canonicalSymbol } from '../core/shared/symbol.ts'
import { timestampAt } from '../core/shared/time.ts'
import type { ProducerReport } from '../core/signals/producer-runs.ts'
import { builtinOf, type Producers } from '../core/signals/producers.ts'
import { keyedRows } from '../engine/market/producer-runner.ts'
import type { Producer, ProducerRun } from '../ports/producer.ts'

/** Runs of producers after which nothing happens: only that they ran is kept, and folded when somebody reads it. */
export class QuietRuns {
  readonly #runs = new Map<string, QuietRun>()
  #count = 0

  /** How many events are not folded yet. */
  get count(): number {
    return this.#count
  }

  /** It ran now and reported so many signals. */
  add(name: string, nowMs: number, signals: number): void {
    const run = this.#runs.get(name)
    if (run === undefined) this.#runs.set(name, { atMs: nowMs, signals })
    else {
      run.atMs = nowMs
      run.signals += signals
    }
    this.#count += 1
  }

  /** When it ran last, if that is not folded yet. */
  lastRunMs(name: string): number | undefined {
    return this.#runs.get(name)?.atMs
  }

  foldInto(producers: Producers): Producers {
    const runs = producers.runs.withMutations((known) => {
      for (const [name, { atMs, signals }] of this.#runs) {
        const before = known.get(name)
        if (before === undefined) continue
        const at = timestampAt(atMs)
        const { recentErrors, eventsProduced, averageDurationMs, quarantinedUntil } = before
        known.set(name, {
          health: 'ok',
          lastRunAt: at,
          lastSuccessAt: at,
          lastError: null,
          consecutiveFailures: 0,
          errorsInARow: 0,
          recentErrors,
          eventsProduced: eventsProduced + signals,
          averageDurationMs,
          quarantinedUntil,
        })
      }
    })
    this.#runs.clear()
    this.#count = 0
    return { registered: producers.registered, runs }
  }
}

interface QuietRun {
  atMs: number
  signals: number
}

/** It ran and had nothing to report. */
export const NOTHING = Symbol('nothing')

/** How a producer ran, with the keys of its rows; null if it failed, or if its health has to be looked at. */
export const reportOf = (
  producer: Producer,
  { runs }: Producers,
  view: MarketView,
): ProducerReport | typeof NOTHING | null => {
  const { name } = producer
  const record = runs.get(name)
  if (record === undefined || record.quarantinedUntil !== null || record.averageDurationMs !== 0) return null
  const run = runOf(producer, view)
  if (run?.status === 'ran' && run.rows.length === 0) return NOTHING
  const schedule = builtinOf(name)?.schedule ?? null
  if (run === null || schedule === null) return null
  if (run.status !== 'ran')
    return { name, end: 'unusable', rows: [], rejected: [], error: run.reason, durationMs: 0 }
  const rows = keyedRows(name, schedule, run.rows, timestampAt(view.asOfMs))
  // Of two with one key only the first would be stored.
  if (rows.length > 1 && new Set(rows.map(({ dedupeKey }) => dedupeKey)).size < rows.length) return null
  return { name, end: 'usable', rows, rejected: [], error: null, durationMs: 0 }
}

/** Whether the keys of its rows are others than those of its last run. */
export const isLaterWindow = ({ name }: Producer, lastRunMs: number, nowMs: number): boolean => {
  const lengthMs = intervalMsOf(builtinOf(name)?.schedule ?? '') ?? 1
  return Math.floor(nowMs / lengthMs) > Math.floor(lastRunMs / lengthMs)
}

const runOf = (producer: Producer, view: MarketView): ProducerRun | null => {
  try {
    return producer.run(view)
  } catch {
    // It fails again where its failure is recorded.
    return null
  }
}

/** A view of the newest bars before they are folded, or of the whole market where more is needed. */
export const quietView = (
  {
    symbols,
    asOfMs,
    analysisBarSeconds,
  }: Omit<MarketView, 'symbols'> & { readonly symbols: readonly string[] },
  pricesOf: (symbol: string) => PriceView | null,
  folded: () => Market,
): MarketView => {
  const views: SymbolView[] = []
  for (const symbol of symbols) {
    const prices = pricesOf(symbol)
    if (prices === null) return marketView(folded(), symbols, asOfMs)
    views.push(new QuietSymbolView(symbol, prices, folded))
  }
  return { asOfMs, analysisBarSeconds, symbols: views }
}

/** The members that are known without folding. */
export interface PriceView extends Pick<SymbolView, 'return1h' | 'variance' | 'analysisBars'> {
  readonly close: number
  /** The newest bar. */
  readonly last: Pick<
    FeedBar,
    | 'funding_annualized'
    | 'basis_annualized'
    | 'open_interest_usd'
    | 'bid_depth_usd'
    | 'ask_depth_usd'
    | 'fear_greed'
  >
}

/** A symbol whose newest bar is known before it is folded; it is when a producer asks for what is older. */
class QuietSymbolView implements SymbolView {
  readonly symbol: string
  readonly return1h: number | null
  readonly variance: number | null
  readonly analysisBars: SymbolView['analysisBars']
  readonly fundingAnnualized: number | null
  readonly basisAnnualized: number | null
  readonly openInterestUsd: number | null
  readonly bidDepthUsd: number | null
  readonly askDepthUsd: number | null
  readonly fearGreed: number | null
  readonly #close: number
  readonly #folded: () => Market
  #whole: SymbolView | null = null

  constructor(symbol: string, prices: PriceView, folded: () => Market) {
    const { close, last, return1h, variance, analysisBars } = prices
    this.symbol = symbol
    this.return1h = return1h
    this.variance = variance
    this.analysisBars = analysisBars
    this.fundingAnnualized = last.funding_annualized
    this.basisAnnualized = last.basis_annualized
    this.openInterestUsd = last.open_interest_usd
    this.bidDepthUsd = last.bid_depth_usd
    this.askDepthUsd = last.ask_depth_usd
    this.fearGreed = last.fear_greed
    this.#close = close
    this.#folded = folded
  }

  get close(): SymbolView['close'] {
    return priceFrom(this.#close)
  }

  get return24h(): number | null {
    return this.#wholeView().return24h
  }

  get volume24hUsd(): number | null {
    return this.#wholeView().volume24hUsd
  }

  get openInterestChangePct(): number | null {
    return this.#wholeView().openInterestChangePct
  }

  get fearGreedChange7d(): number | null {
    return this.#wholeView().fearGreedChange7d
  }

  #wholeView(): SymbolView {
    if (this.#whole !== null) return this.#whole
    const market = this.#folded()
    const known = market.symbols.get(canonicalSymbol(this.symbol))
    assert(known !== undefined, `${this.symbol} has a price but no bars`)
    this.#whole = symbolView(this.symbol, known, market)
    return this.#whole
  }
}
