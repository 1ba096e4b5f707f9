import type { FeedBar } from '../core/market/bar.ts'
import { EquityTracker } from './equity-tracker.ts'

/** Costs of a fill, in basis points. */
export interface FillCosts {
  readonly feeBps: number
  readonly slippageBps: number
}

/** Result of buying the whole market once and keeping it. */
export type MarketLine = ReturnType<MarketLineTracker['line']>

interface Holding {
  readonly quantity: number
  close: number
}

/**
 * The market line: the whole account is invested in equal parts in the symbols that have prices when trading begins.
 * Each symbol is bought at its first traded open with slippage and fee, and never sold. No limit, stop or funding
 * applies: these belong to a strategy.
 */
export class MarketLineTracker {
  readonly #costs: FillCosts
  readonly #startUsd: number
  readonly #equity: EquityTracker
  readonly #symbols = new Set<string>()
  readonly #holdings = new Map<string, Holding>()
  readonly #held: Holding[] = []
  #hasBegun = false
  #cash: number
  #fees = 0
  #slippage = 0
  #bought = 0

  constructor(startUsd: number, costs: FillCosts) {
    this.#costs = costs
    this.#startUsd = startUsd
    this.#cash = startUsd
    this.#equity = new EquityTracker(startUsd)
  }

  get value(): number {
    return this.#equity.value
  }

  /** Adds bars from before trading begins. */
  warmUp(bars: readonly FeedBar[]): void {
    for (const { symbol } of bars) this.#symbols.add(symbol)
  }

  close(bars: readonly FeedBar[], openMs: number, closeMs: number): void {
    if (!this.#hasBegun) {
      this.warmUp(bars)
      this.#hasBegun = true
    }
    for (const { symbol, open, close } of bars) {
      const holding = this.#holdings.get(symbol)
      if (holding !== undefined) holding.close = close
      else if (this.#symbols.has(symbol)) this.#buy(symbol, open, close)
    }
    let value = this.#cash
    for (const { quantity, close } of this.#held) value += quantity * close
    this.#equity.close(value, openMs, closeMs)
  }

  line() {
    return {
      ...this.#equity.tracked(),
      /** Symbols that were bought, in the order of their first bars. */
      symbols: [...this.#holdings.keys()],
      feesUsd: this.#fees,
      slippageUsd: this.#slippage,
      /** Amount that was invested, without costs. */
      boughtUsd: this.#bought,
    }
  }

  #buy(symbol: string, open: number, close: number): void {
    const fee = this.#costs.feeBps / 10_000
    const slippage = this.#costs.slippageBps / 10_000
    const cash = this.#startUsd / this.#symbols.size
    const quantity = cash / (open * (1 + slippage) * (1 + fee))
    // A bar without a price buys nothing. The next bar may.
    if (!Number.isFinite(quantity)) return
    const holding = { quantity, close }
    this.#holdings.set(symbol, holding)
    this.#held.push(holding)
    this.#cash = this.#holdings.size === this.#symbols.size ? 0 : this.#cash - cash
    this.#bought += quantity * open
    this.#slippage += quantity * open * slippage
    this.#fees += quantity * open * (1 + slippage) * fee
  }
}
