import type { FundingPayment } from '../../../ports/broker.ts'
import type { Timer } from '../../../ports/timer.ts'
import type { Connection } from './connection.ts'
import { scaledOf } from './decimals.ts'
import { DOLLARS, memberOf, textMemberOf } from './values.ts'

/** What the venue took and gave for holding positions. */
export interface Fundings {
  /** Not told before; nothing when the venue does not say now, and it is told the next time. */
  news(symbolOf: (market: string) => string | null): Promise<readonly FundingPayment[]>
}

export interface FundingsDependencies {
  readonly connection: Connection
  readonly timer: Timer
  /** Whether this venue is asked at all. */
  readonly isTold: boolean
}

/** Payments come every few hours: the list, which is heavy to ask for, is read every few minutes. */
export const createFundings = ({ connection, timer, isTold }: FundingsDependencies): Fundings => {
  const { exchange, ask } = connection
  let sinceMs = timer.now() - DAYS_AT_START_MS
  // Not with the first look at the account, which entries wait for.
  let nextMs = timer.now() + PAUSE_AT_START_MS
  return {
    news: async (symbolOf) => {
      const nowMs = timer.now()
      if (!isTold || exchange.has['fetchFundingHistory'] !== true || nowMs < nextMs) return []
      const reply = await ask(() => exchange.fetchFundingHistory(undefined, sinceMs, PAYMENTS_MAX))
      if (reply.status !== 'done' || !Array.isArray(reply.value)) return []
      const entries = reply.value as readonly unknown[]
      nextMs = entries.length < PAYMENTS_MAX ? nowMs + PAUSE_MS : 0
      const payments = entries.flatMap((entry) => paymentIn(entry, symbolOf) ?? [])
      // A payment may be listed a while after it was made: it is told again rather than missed.
      const newestMs = Math.max(sinceMs, ...payments.map(({ atMs }) => atMs))
      sinceMs = entries.length < PAYMENTS_MAX ? Math.max(sinceMs, newestMs - OVERLAP_MS) : newestMs
      return payments
    },
  }
}

const DAYS_AT_START_MS = 7 * 86_400_000
const PAUSE_AT_START_MS = 20_000
const PAUSE_MS = 5 * 60_000
const OVERLAP_MS = 60 * 60_000
const PAYMENTS_MAX = 1000

/** Null for what was paid in other coins, or for markets that orders never go to. */
const paymentIn = (entry: unknown, symbolOf: (market: string) => string | null): FundingPayment | null => {
  const id = textMemberOf(entry, 'id')
  const symbol = symbolOf(textMemberOf(entry, 'symbol') ?? '')
  // The venue tells what came in.
  const received = scaledOf(memberOf(entry, 'amount'), 6, 'down')
  const atMs = Number(memberOf(entry, 'timestamp'))
  const isDollar = DOLLARS.some((dollar) => dollar === memberOf(entry, 'code'))
  if (id === null || symbol === null || received === null || !isDollar || !(atMs > 0)) return null
  return { id, symbol, paidUsd: -received, atMs }
}
