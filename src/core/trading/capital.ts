import type { NewEvent } from '../events/catalogue.ts'
import { accept, type Decision } from '../shared/decision.ts'
import { minus, NO_USD, notionalOf, signed, sumOf, usdFrom, usdNumber, type Usd } from '../shared/money.ts'
import { canonicalSymbol } from '../shared/symbol.ts'
import { equityOf } from './account.ts'
import { differingSymbols, type AccountSweep } from './account-sweep.ts'
import { openPositionsOf } from './book.ts'
import type { TradingFacts } from './evolve.ts'
import { executionAlert } from './execution-alerts.ts'
import { isAtRest } from './orders.ts'
import { soldOf } from './positions.ts'
import { omsEvent } from './oms-event.ts'

/*
 * Money that somebody moves into the account at a venue, or out of it, is neither earned nor lost. The venue does not say
 * so: it is what the balance has more, or less, than fills, fees and funding explain.
 */

/** Null while the two cannot be compared: orders are under way, or the positions differ. */
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
  if (differingSymbols(facts, sweep).length > 0) return null
  // Both hold the same, so its price is left out: the venue's and ours are never of the same time.
  const paid = held.map((position) =>
    signed(position.terms.direction, minus(position.holding.notional, soldOf(position).notional)),
  )
  const paidThere = positions.map(({ direction, entryPrice, quantity }) =>
    signed(direction, notionalOf(entryPrice, quantity)),
  )
  return minus(minus(balance, sumOf(paidThere)), minus(ledger.cash, sumOf(paid)))
}

/** Less is what estimated fees and funding add up to, and what rounding leaves. */
export const isCapital = ({ trading }: TradingFacts, amount: Usd): boolean => {
  const equity = equityOf(trading)
  const size = amount < 0n ? minus(NO_USD, amount) : amount
  return size >= SMALLEST && size * EQUITY_SHARE >= equity
}

const SMALLEST = usdFrom(1)
/** One of so many parts of equity. */
const EQUITY_SHARE = 200n

/** Recorded as what it is, and said: somebody else may have moved it. */
export const recordCapital = (facts: TradingFacts, sweep: AccountSweep): Decision => {
  const amount = unexplainedBalance(facts, sweep)
  return amount === null || !isCapital(facts, amount) ? accept() : accept(...capitalEvents(amount, sweep))
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
