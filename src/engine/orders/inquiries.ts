import type { Order } from '../../core/trading/orders.ts'

export interface InquiryPace {
  /** Searches that must find nothing before an order counts as not found, and over how long. */
  readonly attempts: number
  readonly overMs: number
}

/** How often open orders are looked at, whatever else tells of them. */
const SWEEP_MS = 5000
/** After an unclear answer. */
const RETRY_MS = 2000

/** When the venue is asked about which order, and how often it had nothing. Forgotten with the process: then it asks anew. */
export class Inquiries {
  readonly #byOrder = new Map<string, Inquiry>()
  readonly #pace: () => InquiryPace

  constructor(pace: () => InquiryPace) {
    this.#pace = pace
  }

  isDue(order: Order, nowMs: number): boolean {
    const inquiry = this.#byOrder.get(keyOf(order))
    return inquiry === undefined || nowMs >= inquiry.nextMs
  }

  /** Begins to count with the first look at an order in this state. */
  begin(order: Order, nowMs: number): void {
    const key = keyOf(order)
    if (!this.#byOrder.has(key)) this.#byOrder.set(key, { sinceMs: nowMs, nextMs: nowMs, found: 0 })
  }

  /** How often a search found nothing by now; null as long as it was not often enough. */
  nothingFound(order: Order, nowMs: number): number | null {
    const { attempts, overMs } = this.#pace()
    const inquiry = this.#byOrder.get(keyOf(order))
    if (inquiry === undefined) return null
    // The first look comes at once, when an order may still be on its way: it proves nothing.
    if (inquiry.found === attempts) return attempts
    inquiry.found += 1
    inquiry.nextMs = Math.max(nowMs, inquiry.sinceMs + (inquiry.found * overMs) / attempts)
    return null
  }

  unclear(order: Order, nowMs: number): void {
    const inquiry = this.#byOrder.get(keyOf(order))
    if (inquiry !== undefined) inquiry.nextMs = nowMs + RETRY_MS
  }

  answered(order: Order, nowMs: number): void {
    this.#byOrder.set(keyOf(order), { sinceMs: nowMs, nextMs: nowMs + SWEEP_MS, found: 0 })
  }

  /** Of orders that have ended. */
  forgetAllBut(orders: Iterable<Order>): void {
    const known = new Set([...orders].map(keyOf))
    for (const key of this.#byOrder.keys()) if (!known.has(key)) this.#byOrder.delete(key)
  }
}

interface Inquiry {
  readonly sinceMs: number
  nextMs: number
  found: number
}

/** Another state is another question. */
const keyOf = ({ id, status, resends, cancelReason }: Order): string =>
  `${id}|${status === 'unknown' ? 'unknown' : 'resting'}|${resends}|${cancelReason === null ? '' : 'cancel'}`
