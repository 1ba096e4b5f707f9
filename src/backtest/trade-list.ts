import type { KnownEvent, PayloadOf } from '../core/events/catalogue.ts'

/** A trade from its first fill to its last. */
export interface ClosedTrade {
  readonly symbol: string
  readonly direction: 'long' | 'short'
  readonly openedAt: string
  readonly closedAt: string
  readonly entryPrice: number
  readonly exitPrice: number
  readonly sizeUsd: number
  /** After fees and funding. */
  readonly netUsd: number
  readonly exitReason: string
}

type Opening = PayloadOf<'execution.position_opened.v1'>

/** Puts the beginnings and ends of trades together. */
export class TradeList {
  readonly #open = new Map<string, { readonly opening: Opening; readonly at: string }>()
  readonly #closed: ClosedTrade[] = []

  get closed(): readonly ClosedTrade[] {
    return this.#closed
  }

  see(event: KnownEvent): void {
    if (event.type === 'execution.position_opened.v1') {
      this.#open.set(event.payload.position_id, { opening: event.payload, at: event.recordedAt })
    } else if (event.type === 'execution.position_closed.v1') this.#close(event.payload, event.recordedAt)
  }

  #close(end: PayloadOf<'execution.position_closed.v1'>, closedAt: string): void {
    const begun = this.#open.get(end.position_id)
    if (begun === undefined) return
    this.#open.delete(end.position_id)
    const { opening, at } = begun
    this.#closed.push({
      symbol: opening.asset,
      direction: opening.direction,
      openedAt: at,
      closedAt,
      entryPrice: opening.entry_price,
      exitPrice: end.exit_price,
      sizeUsd: opening.size_notional,
      netUsd: end.realized_pnl,
      exitReason: end.exit_reason,
    })
  }
}
