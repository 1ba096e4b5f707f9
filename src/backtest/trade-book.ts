import { asKnown, type PayloadOf } from '../core/events/catalogue.ts'
import type { Stamped } from '../core/log/event.ts'
import { canonicalJson } from '../core/log/canonical-json.ts'
import type { Json } from '../core/shared/json.ts'
import { canonicalSymbol } from '../core/shared/symbol.ts'
import { ruleIn } from '../core/trading/positions/positions.ts'

/** A trade from its intent to its end, or to the last price while it is open. */
export interface Trade {
  /** Name of the strategy that proposed the trade; null for the brain. */
  readonly rule: string | null
  readonly symbol: string
  readonly direction: 'long' | 'short'
  readonly openedMs: number
  readonly entryPrice: number
  readonly quantity: number
  /** Quantity of the entry order. */
  readonly orderedQuantity: number
  /** Null while the trade is open: the exit price is then the last price. */
  readonly closedMs: number | null
  readonly exitPrice: number
  readonly exitReason: string | null
  /** Operator who closed the position manually. */
  readonly closedBy: string | null
  /** Fees and funding. */
  readonly costs: number
  readonly pnl: number
}

/** An intent or an order that did not lead to a trade. */
interface Refusal {
  readonly symbol: string
  readonly atMs: number
  readonly reasons: readonly string[]
}

interface Holding {
  readonly rule: string | null
  readonly symbol: string
  readonly direction: 'long' | 'short'
  readonly openedMs: number
  readonly orderedQuantity: number
  bought: number
  boughtFor: number
  sold: number
  soldFor: number
  costs: number
}

/** Trades and refusals, in the order of their events. A bar only updates the last price. */
export class TradeBook {
  readonly trades: Trade[] = []
  readonly refusals: Refusal[] = []
  /** Periods in which the kill switch blocked entries. */
  readonly stops: { readonly fromMs: number; toMs: number }[] = []
  readonly configChangesMs: number[] = []
  readonly cyclesMs: number[] = []
  /** Funding of positions that have ended. */
  lateCosts = 0
  readonly #orders = new Map<string, { readonly quantity: number; readonly isExit: boolean }>()
  readonly #open = new Map<string, Holding>()
  readonly #prices = new Map<string, number>()
  #lastMs = 0
  /** Settings as recorded in the log; null before the first record. */
  #settings: string | null = null

  take(event: Stamped): void {
    const known = asKnown(event)
    if (known === null) return
    const atMs = Date.parse(known.recordedAt)
    this.#lastMs = Math.max(this.#lastMs, atMs)
    switch (known.type) {
      case 'market.bar.v1':
        this.#prices.set(canonicalSymbol(known.payload.symbol), known.payload.close)
        return
      case 'brain.cycle.v1':
        this.cyclesMs.push(atMs)
        return
      case 'system.config_changed.v1':
        this.#configure(known.payload.configuration)
        this.configChangesMs.push(atMs)
        return
      // Settings can also be changed in a file. They apply from the next start.
      case 'system.started.v1':
        if (this.#configure(known.payload.configuration)) this.configChangesMs.push(atMs)
        return
      case 'system.kill_switch.v1':
        this.#stop(known.payload.level >= 2, atMs)
        return
      case 'execution.order_submitted.v1': {
        const { order_id, quantity, exit_reason, reduce_only } = known.payload
        this.#orders.set(order_id, { quantity, isExit: exit_reason !== null || reduce_only })
        return
      }
      case 'execution.order_failed.v1': {
        const { symbol, reasons } = known.payload
        this.refusals.push({ symbol: canonicalSymbol(symbol), atMs, reasons })
        return
      }
      case 'execution.position_opened.v1': {
        const { position_id, asset, direction, order_id, entry_price, quantity, fees_usd } = known.payload
        this.#open.set(position_id, {
          rule: ruleIn(known.payload.conviction_id),
          symbol: asset,
          direction,
          openedMs: atMs,
          orderedQuantity: this.#orders.get(order_id)?.quantity ?? quantity,
          bought: quantity,
          boughtFor: quantity * entry_price,
          sold: 0,
          soldFor: 0,
          costs: fees_usd,
        })
        return
      }
      case 'execution.order_filled.v1':
        this.#fill(known.payload)
        return
      case 'execution.funding_applied.v1': {
        const holding = this.#open.get(known.payload.position_id)
        if (holding === undefined) this.lateCosts += known.payload.amount_usd
        else holding.costs += known.payload.amount_usd
        return
      }
      case 'execution.position_closed.v1': {
        const { position_id, exit_price, exit_reason, closed_by = null } = known.payload
        const { realized_pnl: pnl, fees_usd, funding_usd } = known.payload
        const holding = this.#open.get(position_id)
        if (holding === undefined) return
        this.#open.delete(position_id)
        const end = { closedMs: atMs, exitPrice: exit_price, exitReason: exit_reason, closedBy: closed_by }
        this.trades.push({ ...entryOf(holding), ...end, costs: fees_usd + funding_usd, pnl })
        return
      }
      default:
    }
  }

  /** Values open positions at the last price. */
  end(): void {
    for (const holding of this.#open.values()) {
      const { symbol, direction, bought, boughtFor, sold, soldFor, costs } = holding
      const price = this.#prices.get(symbol) ?? boughtFor / bought
      const value = soldFor + (bought - sold) * price
      const side = direction === 'long' ? 1 : -1
      const pnl = side * (value - boughtFor) - costs
      const open = { closedMs: null, exitPrice: value / bought, exitReason: null, closedBy: null }
      this.trades.push({ ...entryOf(holding), ...open, costs, pnl })
    }
    this.#open.clear()
    this.#stop(false, this.#lastMs)
  }

  isStopped(atMs: number): boolean {
    return this.stops.some(({ fromMs, toMs }) => fromMs <= atMs && atMs <= toMs)
  }

  /** True if the settings differ from the previous ones. */
  #configure(recorded: unknown): boolean {
    if (recorded === undefined) return false
    const before = this.#settings
    this.#settings = canonicalJson(recorded as Json)
    return before !== null && before !== this.#settings
  }

  #fill(fill: PayloadOf<'execution.order_filled.v1'>): void {
    const holding = this.#open.get(fill.position_id)
    // The first fill of an entry comes before the position that it opens.
    if (holding === undefined) return
    const isExit = this.#orders.get(fill.order_id)?.isExit === true
    if (isExit) {
      holding.sold += fill.fill_size
      holding.soldFor += fill.notional_usd
    } else {
      holding.bought += fill.fill_size
      holding.boughtFor += fill.notional_usd
    }
    holding.costs += fill.fee_usd
  }

  #stop(isStopped: boolean, atMs: number): void {
    const last = this.stops.at(-1)
    const isRunning = last !== undefined && last.toMs === Infinity
    if (isStopped && !isRunning) this.stops.push({ fromMs: atMs, toMs: Infinity })
    if (!isStopped && isRunning) last.toMs = atMs
  }
}

const entryOf = ({ rule, symbol, direction, openedMs, orderedQuantity, bought, boughtFor }: Holding) => ({
  rule,
  symbol,
  direction,
  openedMs,
  orderedQuantity,
  quantity: bought,
  entryPrice: boughtFor / bought,
})
