import type { NewEvent } from '../../events/catalogue.ts'
import { accept, type Decision } from '../../shared/decision.ts'
import type { DecisionContext } from '../../shared/decision-context.ts'
import {
  lesser,
  minus,
  NO_QUANTITY,
  NO_USD,
  notionalOf,
  plus,
  signed,
  sumOf,
  usdFrom,
  usdNumber,
  type Usd,
} from '../../shared/money.ts'
import { canonicalSymbol } from '../../shared/symbol.ts'
import { DAY_MS, hasPassed } from '../../shared/time.ts'
import { equityOf } from '../risk/account.ts'
import { missingParts, type AccountSweep } from './account-differences.ts'
import { openPositionsOf } from '../positions/book.ts'
import type { TradingFacts } from '../evolve.ts'
import { executionAlert } from '../orders/execution-alerts.ts'
import { isAtRest } from '../orders/orders.ts'
import { soldOf } from '../positions/positions.ts'
import { VENUE_CLOCK_MS_MAX } from './venue-orders.ts'
import { omsEvent } from '../orders/oms-event.ts'

/*
 * The balance of a venue can differ from the sum of fills, fees and funding. The venue does not report the reason, so
 * the size of the difference and the events around it decide how it is classified:
 * - a large difference is a manual deposit or withdrawal, which is neither profit nor loss;
 * - a large loss around a missing position, or a liquidation that the log lacks, is a loss: a venue that closes a
 *   position without reporting it must not look like a withdrawal;
 * - a small difference stays out of the books and is reported as unexplained.
 */

/** Returns null while the two cannot be compared: orders are pending, or the positions differ in an unrecorded way. */
export const unexplainedBalance = (facts: TradingFacts, sweep: AccountSweep): Usd | null => {
  const { ledger, orders } = facts.trading
  const { venue, balance, positions, quietSymbols } = sweep
  if (balance === undefined || ledger.account !== venue) return null
  if ([...orders.open.values()].some((order) => order.venue === venue && !isAtRest(order))) return null
  const held = openPositionsOf(facts.trading).filter(({ terms }) => terms.platform === venue)
  const symbols = [
    ...held.map(({ terms }) => terms.asset),
    ...positions.map(({ symbol }) => canonicalSymbol(symbol)),
  ]
  if (symbols.some((symbol) => !quietSymbols.includes(symbol))) return null
  const missing = missingParts(facts, sweep)
  if (missing === null) return null
  // Venue and log hold the same quantity, so its price is left out: their prices are never from the same time.
  const paid = held.map((position) =>
    signed(position.terms.direction, minus(position.holding.notional, soldOf(position).notional)),
  )
  const paidThere = positions.map(({ direction, entryPrice, quantity }) =>
    signed(direction, notionalOf(entryPrice, quantity)),
  )
  // A missing quantity counts as sold at its mark, as when an operator releases it.
  const released = missing.map(({ quantity, mark }) =>
    quantity < 0n
      ? minus(NO_USD, notionalOf(mark, minus(NO_QUANTITY, quantity)))
      : notionalOf(mark, quantity),
  )
  const ours = plus(minus(ledger.cash, sumOf(paid)), sumOf(released))
  return minus(minus(balance, sumOf(paidThere)), ours)
}

/** Classifies an unexplained difference of the balance. */
export type BalanceFinding = 'agrees' | 'unexplained' | 'loss' | 'capital'

export const findingOf = (
  facts: TradingFacts,
  sweep: AccountSweep,
  amount: Usd,
  { now }: Pick<DecisionContext, 'now'>,
): BalanceFinding => {
  const { venue, ledger } = facts.trading
  if (isLarge(facts, amount)) {
    const mayBeLoss = amount < 0n || ledger.unexplainedLoss < 0n
    if (mayBeLoss && isLossLikely(facts, sweep, { now })) return 'loss'
    // The value of a missing position changes with its price, so the difference is no deposit or withdrawal.
    return venue.missing.length > 0 ? 'agrees' : 'capital'
  }
  if (venue.missing.length > 0) return 'agrees'
  return isCent(minus(amount, venue.unexplained)) ? 'unexplained' : 'agrees'
}

/** Whether two differences are the same one, measured twice. */
export const isSameDifference = (facts: TradingFacts, one: Usd, other: Usd): boolean =>
  isLarge(facts, one) ? !isLarge(facts, minus(one, other)) : !isCent(minus(one, other))

/** Whether a difference is too large for estimates and rounding, so that it counts as a deposit or withdrawal. */
const isLarge = ({ trading }: TradingFacts, amount: Usd): boolean => {
  const equity = equityOf(trading)
  const size = absolute(amount)
  return size >= SMALLEST && size * EQUITY_SHARE >= equity
}

const isCent = (amount: Usd): boolean => absolute(amount) >= CENT

const absolute = (amount: Usd): Usd => (amount < 0n ? minus(NO_USD, amount) : amount)

/** Whether a position is missing or was within the last day, or the venue lists a liquidation without a position. */
const isLossLikely = (
  { trading: { venue, positions } }: TradingFacts,
  { liquidations }: AccountSweep,
  { now }: Pick<DecisionContext, 'now'>,
): boolean =>
  venue.missing.length > 0 ||
  (venue.missedAt !== null && !hasPassed(DAY_MS, venue.missedAt, now)) ||
  liquidations.some(
    ({ symbol, atMs }) =>
      !positions.some(
        (position) =>
          position.status === 'liquidated' &&
          position.terms.asset === canonicalSymbol(symbol) &&
          Date.parse(position.terms.openedAt) <= atMs &&
          Date.parse(position.end.closedAt) >= atMs - VENUE_CLOCK_MS_MAX,
      ),
  )

const SMALLEST = usdFrom(1)
/** Divisor of equity for the threshold. */
const EQUITY_SHARE = 200n

const CENT = usdFrom(0.01)

/** Records a difference of the balance according to its classification. */
export const recordCapital = (
  facts: TradingFacts,
  sweep: AccountSweep,
  context: DecisionContext,
): Decision => {
  const amount = unexplainedBalance(facts, sweep)
  if (amount === null) return accept()
  switch (findingOf(facts, sweep, amount, context)) {
    case 'agrees':
      return accept()
    case 'unexplained':
      return accept(
        omsEvent('execution.balance_differs.v1', { venue: sweep.venue, unexplained_usd: usdNumber(amount) }),
      )
    case 'loss':
      return accept(...lossEvents(facts, amount, sweep))
    case 'capital':
      return accept(...capitalEvents(amount, sweep))
  }
}

/** A gain reverses losses that were recorded before. The rest of it is capital. */
const lossEvents = (
  { trading: { ledger } }: TradingFacts,
  amount: Usd,
  { venue }: AccountSweep,
): readonly NewEvent[] => {
  const counted = amount < 0n ? amount : lesser(amount, minus(NO_USD, ledger.unexplainedLoss))
  const usd = usdNumber(absolute(counted)).toFixed(2)
  return [
    omsEvent('execution.loss_unexplained.v1', { venue, amount_usd: usdNumber(counted) }),
    executionAlert({
      cause: 'loss_unexplained',
      message:
        amount < 0n
          ? `The account at ${venue} has lost ${usd} USD that no trade, fee or funding explains, around a position ` +
            'that it no longer holds: this counts as a loss. Look at the orders and liquidations of the account'
          : `The account at ${venue} has got back ${usd} USD of a loss that was recorded as unexplained`,
      symbol: '',
    }),
  ]
}

const capitalEvents = (amount: Usd, { venue }: AccountSweep): readonly NewEvent[] => {
  const isDeposit = amount > 0n
  const usd = usdNumber(isDeposit ? amount : minus(NO_USD, amount)).toFixed(2)
  return [
    omsEvent('execution.capital_moved.v1', { venue, amount_usd: usdNumber(amount) }),
    executionAlert({
      cause: 'capital_moved',
      message:
        `The account at ${venue} has ${usd} USD ${isDeposit ? 'more' : 'less'} than trades, fees and funding ` +
        `explain: this counts as a ${isDeposit ? 'deposit' : 'withdrawal'}. If nobody moved it, look at the account`,
      symbol: '',
    }),
  ]
}
