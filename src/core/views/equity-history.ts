import { z } from 'zod'

export const equityHistoryView = z.object({
  as_of: z.string(),
  points: z
    .array(z.object({ ts: z.string(), equity_usd: z.number() }))
    .meta({ description: 'oldest first; the last one is the equity of `as_of`' }),
})

export type EquityHistoryView = z.infer<typeof equityHistoryView>

/** A position as far as its worth over time goes. */
export interface Held {
  readonly asset: string
  /** 1 for long, -1 for short. */
  readonly sign: 1 | -1
  readonly quantity: number
  readonly entryPrice: number
  /** Paid when it was opened. */
  readonly entryFeesUsd: number
  readonly openedAtMs: number
  /** Null while it is open. */
  readonly end: { readonly closedAtMs: number; readonly realizedUsd: number } | null
}

export interface PricePoint {
  readonly atMs: number
  readonly price: number
}

export interface EquityFacts {
  readonly nowMs: number
  readonly sinceMs: number
  readonly points: number
  readonly equityUsd: number
  /** Cash without what is open: the start balance and the net results of all that is closed. */
  readonly settledUsd: number
  readonly held: readonly Held[]
  /** By asset, oldest first. */
  readonly prices: ReadonlyMap<string, readonly PricePoint[]>
}

/**
 * Equity over time, reckoned backwards from now: what is closed by its result, what was open by the price of that time.
 * Funding and parts of fills are left out of the past; the newest point is exact.
 */
export const viewEquityHistory = (facts: EquityFacts): EquityHistoryView => {
  const { nowMs, sinceMs, points, equityUsd } = facts
  const stepMs = (nowMs - sinceMs) / points
  const past = Array.from({ length: points }, (_, index) => Math.round(sinceMs + index * stepMs))
  return {
    as_of: isoOf(nowMs),
    points: [
      ...past.map((atMs) => ({ ts: isoOf(atMs), equity_usd: cents(equityAt(atMs, facts)) })),
      { ts: isoOf(nowMs), equity_usd: cents(equityUsd) },
    ],
  }
}

const equityAt = (atMs: number, { settledUsd, held, prices }: EquityFacts): number =>
  held.reduce((equity, position) => equity + correctionAt(atMs, position, prices), settledUsd)

/** What the position adds to the settled sum at that time. */
const correctionAt = (atMs: number, position: Held, prices: EquityFacts['prices']): number => {
  const { openedAtMs, end } = position
  const laterResult = end !== null && end.closedAtMs > atMs ? -end.realizedUsd : 0
  const isHeld = openedAtMs <= atMs && (end === null || end.closedAtMs > atMs)
  if (!isHeld) return laterResult
  const price = priceAt(atMs, prices.get(position.asset) ?? []) ?? position.entryPrice
  const open = position.sign * position.quantity * (price - position.entryPrice) - position.entryFeesUsd
  return laterResult + open
}

/** The last price told by then; the first one for all before. */
const priceAt = (atMs: number, prices: readonly PricePoint[]): number | null => {
  let low = 0
  let high = prices.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((prices[middle]?.atMs ?? Infinity) <= atMs) low = middle + 1
    else high = middle
  }
  return prices[Math.max(0, low - 1)]?.price ?? null
}

const cents = (usd: number): number => Math.round(usd * 100) / 100

const isoOf = (ms: number): string => new Date(ms).toISOString()
