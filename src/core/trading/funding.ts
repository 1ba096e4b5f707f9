import type { Timestamp } from '../shared/brand.ts'
import { timestampAt } from '../shared/time.ts'
import type { NewEvent } from '../events/catalogue.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import { openPositionsOf } from './book.ts'
import { PAPER } from './orders.ts'
import { isOpen, quantityLeft, type Position } from './positions.ts'
import { VENUE_CLOCK_MS_MAX } from './venue-orders.ts'
import { accept, type Decision } from '../shared/decision.ts'
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
} from '../shared/money.ts'
import { canonicalSymbol } from '../shared/symbol.ts'
import type { TradingFacts, TradingState } from './evolve.ts'

/** Three times a day. */
const PERIODS_PER_YEAR = 1095n
const PERIOD_MS = 28_800_000

/** What a venue says it took for holding a symbol, or gave. */
export interface VenueFunding {
  readonly id: string
  readonly symbol: string
  /** Positive: paid. */
  readonly paidUsd: Usd
  readonly atMs: number
}

/** Longs pay a positive rate, shorts get it. Without a known rate nothing is charged. */
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

/** The payment of a venue, shared by size among the positions that were held in its symbol when it was made. */
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
  // A position is opened by the clock of the venue and closed by ours: they differ a little.
  const exact = heldUntil(payment.atMs)
  const held = exact.length > 0 ? exact : heldUntil(payment.atMs - VENUE_CLOCK_MS_MAX)
  const sizes = sizesOf(held)
  const whole = sumOf(sizes)
  let quantity = NO_QUANTITY
  let charged = NO_USD
  return accept(
    ...held.map((position, index): NewEvent => {
      quantity = plus(quantity, sizes[index] ?? NO_QUANTITY)
      // Up to here: what is lost by rounding goes to the next, and the last one takes the rest.
      const upTo = whole === 0n ? NO_USD : (((payment.paidUsd * quantity) / whole) as Usd)
      const amount = minus(upTo, charged)
      charged = upTo
      return paymentOf(position, payment, amount, venue)
    }),
  )
}

/** What is left of each: a venue charges what it holds. Of one that has ended, only the whole is known. */
const sizesOf = (held: readonly Position[]): readonly Quantity[] => {
  const sizes = held.map((position) =>
    isOpen(position) ? quantityLeft(position) : position.holding.quantity,
  )
  return sumOf(sizes) > 0n ? sizes : held.map(({ holding }) => holding.quantity)
}

const paymentOf = (position: Position, payment: VenueFunding, amount: Usd, venue: string): NewEvent => ({
  type: 'execution.funding_applied.v1',
  source: 'oms',
  // Every look at the account reports it again.
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
      // Several services on one log come to the same moment: it is charged once.
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
