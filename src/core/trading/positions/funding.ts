import type { Timestamp } from '../../shared/brand.ts'
import { timestampAt } from '../../shared/time.ts'
import type { NewEvent } from '../../events/catalogue.ts'
import type { DecisionContext } from '../../shared/decision-context.ts'
import { openPositionsOf } from './book.ts'
import { PAPER } from '../orders/orders.ts'
import { isOpen, quantityLeft, type Position } from './positions.ts'
import { VENUE_CLOCK_MS_MAX } from '../venue/venue-orders.ts'
import { accept, type Decision } from '../../shared/decision.ts'
import {
  minus,
  NO_QUANTITY,
  NO_USD,
  periodShareOf,
  plus,
  signed,
  sumOf,
  usdNumber,
  type Quantity,
  type Usd,
} from '../../shared/money.ts'
import { canonicalSymbol } from '../../shared/symbol.ts'
import type { TradingFacts, TradingState } from '../evolve.ts'

/** Funding is charged three times a day. */
const PERIODS_PER_YEAR = 1095n
const PERIOD_MS = 28_800_000

/** A funding payment at a venue. */
export interface VenueFunding {
  readonly id: string
  readonly symbol: string
  /** Positive if paid, negative if received. */
  readonly paidUsd: Usd
  readonly atMs: number
}

/** Charges funding. Longs pay a positive rate, shorts receive it. Without a known rate nothing is charged. */
export const applyFunding = (
  facts: TradingFacts,
  { at, reportedBy }: { readonly at: Timestamp; readonly reportedBy?: string | undefined },
  { configuration }: DecisionContext,
): Decision => {
  const { apply_funding: isApplied, paper_funding_bps: paperBps } = configuration.execution
  if (!isApplied) return accept()
  return accept(
    ...openPositionsOf(facts.trading)
      .filter(({ terms }) => terms.openedAt < at && terms.platform !== reportedBy)
      .flatMap((position) => {
        const isFixed = paperBps !== null && position.terms.platform === PAPER
        const rate = isFixed ? annualPercentOf(paperBps) : rateOf(facts, position, Date.parse(at))
        return rate === null ? [] : chargeOf(position, rate, at)
      }),
  )
}

/** Splits a payment of the venue by size among the positions that were open in its symbol at that time. */
export const recordFunding = (
  { positions }: Pick<TradingState, 'positions'>,
  { venue, payment }: { readonly venue: string; readonly payment: VenueFunding },
): Decision => {
  const of = [...positions.values()]
    .filter(({ terms }) => terms.platform === venue && terms.asset === canonicalSymbol(payment.symbol))
    .toSorted((one, other) => (one.id < other.id ? -1 : 1))
  const heldUntil = (atMs: number): readonly Position[] =>
    of.filter(
      (position) =>
        position.terms.openedAt < timestampAt(payment.atMs) &&
        (isOpen(position) || position.end.closedAt >= timestampAt(atMs)),
    )
  // Positions open by the clock of the venue and close by ours, which may differ a little.
  const exact = heldUntil(payment.atMs)
  const held = exact.length > 0 ? exact : heldUntil(payment.atMs - VENUE_CLOCK_MS_MAX)
  const sizes = sizesOf(held)
  const whole = sumOf(sizes)
  let quantity = NO_QUANTITY
  let charged = NO_USD
  return accept(
    ...held.map((position, index): NewEvent => {
      quantity = plus(quantity, sizes[index] ?? NO_QUANTITY)
      // Cumulative amount up to this position: rounding errors carry over to the next, and the last one gets the rest.
      const upTo = whole === 0n ? NO_USD : (((payment.paidUsd * quantity) / whole) as Usd)
      const amount = minus(upTo, charged)
      charged = upTo
      return paymentOf(position, payment, amount, venue)
    }),
  )
}

/**
 * Remaining quantities, since a venue charges what it holds. For a closed position only the whole quantity is known.
 */
const sizesOf = (held: readonly Position[]): readonly Quantity[] => {
  const sizes = held.map((position) =>
    isOpen(position) ? quantityLeft(position) : position.holding.quantity,
  )
  return sumOf(sizes) > 0n ? sizes : held.map(({ holding }) => holding.quantity)
}

const paymentOf = (position: Position, payment: VenueFunding, amount: Usd, venue: string): NewEvent => ({
  type: 'execution.funding_applied.v1',
  source: 'oms',
  // Every sweep of the account reports the payment again.
  dedupeKey: `funding:${venue}:${payment.id}:${position.id}`,
  payload: {
    position_id: position.id,
    rate_annualized: null,
    notional_usd: usdNumber(position.mark.exposure),
    amount_usd: usdNumber(amount),
    venue_payment_id: payment.id,
    ...(isOpen(position) ? {} : { is_late: true }),
  },
})

const annualPercentOf = (basisPoints: number): number => (basisPoints / 100) * Number(PERIODS_PER_YEAR)

const rateOf = ({ market }: TradingFacts, { terms }: Position, atMs: number): number | null => {
  const last = market.symbols.get(terms.asset)?.last
  if (last === undefined || atMs - Date.parse(last.close_ts) > PERIOD_MS) return null
  return last.funding_annualized
}

const chargeOf = ({ id, terms, mark }: Position, rate: number, at: Timestamp): readonly NewEvent[] => {
  const amount = signed(terms.direction, periodShareOf(mark.exposure, rate, PERIODS_PER_YEAR))
  if (amount === 0n) return []
  return [
    {
      type: 'execution.funding_applied.v1',
      source: 'oms',
      // Several services on one log charge at the same time. The key makes sure that only one charge is stored.
      dedupeKey: `funding:${at}:${id}`,
      payload: {
        position_id: id,
        rate_annualized: rate,
        notional_usd: usdNumber(mark.exposure),
        amount_usd: usdNumber(amount),
      },
    },
  ]
}
