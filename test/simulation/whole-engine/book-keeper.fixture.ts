/** A trade at the venue, in units of 1e-8 and fees of 1e-6 USD. */
export interface Booked {
  readonly symbol: string
  readonly side: 'buy' | 'sell'
  readonly price: bigint
  readonly quantity: bigint
  readonly fee: bigint
}

interface Page {
  /** Positive for longs. */
  net: bigint
  /** Cash flow of the trades since the position was last flat, without fees and funding. */
  flow: bigint
  costs: bigint
}

/**
 * The account from the venue's view: cash in and out, from its trades and payments alone. It is independent of orders,
 * positions and events, and shares no code with the ledger that it is compared with.
 */
export class BookKeeper {
  fees = 0n
  funding = 0n
  /** Profit of closed positions, after all costs. */
  realized = 0n
  readonly #start: bigint
  readonly #pages = new Map<string, Page>()

  constructor(startUsd: bigint) {
    this.#start = startUsd
  }

  trade({ symbol, side, price, quantity, fee }: Booked): void {
    const page = this.#page(symbol)
    const value = halfEven(price * quantity, 10n ** 10n)
    page.net += side === 'buy' ? quantity : -quantity
    page.flow += side === 'buy' ? -value : value
    page.costs += fee
    this.fees += fee
    if (page.net === 0n) this.#rule(page)
  }

  /** Adds funding; positive if paid. */
  fund(symbol: string, paid: bigint): void {
    const page = this.#page(symbol)
    page.costs += paid
    this.funding += paid
    if (page.net === 0n) this.#rule(page)
  }

  netOf(symbol: string): bigint {
    return this.#pages.get(symbol)?.net ?? 0n
  }

  /** Equity: all payments and receipts, plus the value of the positions at these prices. */
  equity(priceOf: (symbol: string) => bigint): bigint {
    let equity = this.#start + this.realized
    for (const [symbol, { net, flow, costs }] of this.#pages) {
      const value = net === 0n ? 0n : halfEven(priceOf(symbol) * (net < 0n ? -net : net), 10n ** 10n)
      equity += flow - costs + (net < 0n ? -value : value)
    }
    return equity
  }

  #rule(page: Page): void {
    this.realized += page.flow - page.costs
    page.flow = 0n
    page.costs = 0n
  }

  #page(symbol: string): Page {
    const known = this.#pages.get(symbol)
    if (known !== undefined) return known
    const page = { net: 0n, flow: 0n, costs: 0n }
    this.#pages.set(symbol, page)
    return page
  }
}

/** Divides a positive amount, and rounds half to even. */
const halfEven = (amount: bigint, unit: bigint): bigint => {
  const down = amount / unit
  const rest = 2n * (amount - down * unit)
  if (rest === unit) return down % 2n === 0n ? down : down + 1n
  return rest > unit ? down + 1n : down
}
