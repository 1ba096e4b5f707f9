import type { Timestamp } from '../../shared/brand.ts'
import type { KnownEvent, PayloadOf } from '../../events/catalogue.ts'
import { minus, NO_USD, plus, usdFrom, type Usd } from '../../shared/money.ts'
import { ruleOf, type Positions } from '../positions/positions.ts'

/** A margin account. Cash changes with gross profit, fees and funding, never with the size of a position. */
export interface Ledger {
  /** `paper`, or the venue that holds the money. */
  readonly account: string
  readonly startBalance: Usd
  readonly cash: Usd
  /** Deposits minus withdrawals since the start. */
  readonly moved: Usd
  /** Unexplained losses; zero or negative. Included in the realized result. */
  readonly unexplainedLoss: Usd
  readonly fees: Usd
  /** Positive if paid, negative if received. */
  readonly funding: Usd
  /** Result of closed positions, net of fees and funding. */
  readonly realized: Usd
  /** Recent closes of the brain and of each strategy, newest last. */
  readonly closes: readonly ClosedTrade[]
  /** Consecutive losing closes. It restarts when an operator lowers the kill switch. */
  readonly lossStreak: number
  /** True once anything was traded. The start balance cannot change after that. */
  readonly hasTraded: boolean
}

export interface ClosedTrade {
  readonly at: Timestamp
  readonly net: Usd
  /** Net profit divided by the notional of the entry. */
  readonly netReturn: number
  /** Strategy that proposed the trade; absent for the brain and for adopted positions. */
  readonly by?: string
}

/** Default until the log sets another balance. */
const START_BALANCE = usdFrom(10_000)

export const INITIAL_LEDGER: Ledger = {
  account: 'paper',
  startBalance: START_BALANCE,
  cash: START_BALANCE,
  moved: NO_USD,
  unexplainedLoss: NO_USD,
  fees: NO_USD,
  funding: NO_USD,
  realized: NO_USD,
  closes: [],
  lossStreak: 0,
  hasTraded: false,
}

/** Limit for the brain, and for each strategy. */
const CLOSES_KEPT = 50
/** Limit for all together, because strategies come and go. */
const CLOSES_MAX = 1000
/** Smaller results count neither as a win nor as a loss. */
const FLAT_BELOW = usdFrom(0.01)

/** `positions` is the state before the event. */
export const evolveLedger = (ledger: Ledger, event: KnownEvent, positions: Positions): Ledger => {
  switch (event.type) {
    case 'system.started.v1':
      return started(ledger, event.payload.folding?.start_balance_usd)
    case 'system.live_confirmed.v1':
      return movedTo(ledger, event.payload.venue, usdFrom(event.payload.equity_usd))
    case 'execution.order_filled.v1':
      return charged(ledger, usdFrom(event.payload.fee_usd), NO_USD)
    case 'execution.funding_applied.v1':
      return funded(ledger, event.payload)
    case 'execution.capital_moved.v1':
      return withCapital(ledger, usdFrom(event.payload.amount_usd))
    case 'execution.loss_unexplained.v1':
      return withLoss(ledger, usdFrom(event.payload.amount_usd))
    case 'execution.position_closed.v1':
      return closed(ledger, event.payload, event.ts, ruleOf(positions.get(event.payload.position_id)))
    case 'system.kill_switch.v1':
      return event.payload.reset_by === undefined ? ledger : { ...ledger, lossStreak: 0 }
    default:
      return ledger
  }
}

const started = (ledger: Ledger, balance: number | undefined): Ledger => {
  if (balance === undefined || ledger.hasTraded || ledger.account !== 'paper') return ledger
  const startBalance = usdFrom(balance)
  return { ...ledger, startBalance, cash: startBalance }
}

/**
 * Starts the ledger of another account. The results of the first one are dropped. Confirming the same account again
 * changes nothing.
 */
const movedTo = (ledger: Ledger, account: string, balance: Usd): Ledger =>
  ledger.account === account ? ledger : { ...INITIAL_LEDGER, account, startBalance: balance, cash: balance }

const withCapital = (ledger: Ledger, amount: Usd): Ledger => ({
  ...ledger,
  cash: plus(ledger.cash, amount),
  moved: plus(ledger.moved, amount),
})

const withLoss = (ledger: Ledger, amount: Usd): Ledger => ({
  ...ledger,
  cash: plus(ledger.cash, amount),
  realized: plus(ledger.realized, amount),
  unexplainedLoss: plus(ledger.unexplainedLoss, amount),
  hasTraded: true,
})

const charged = (ledger: Ledger, fee: Usd, funding: Usd): Ledger => ({
  ...ledger,
  cash: minus(minus(ledger.cash, fee), funding),
  fees: plus(ledger.fees, fee),
  funding: plus(ledger.funding, funding),
  hasTraded: true,
})

/** Applies funding. A late payment, after the close of its position, changes the realized result. */
const funded = (ledger: Ledger, payload: PayloadOf<'execution.funding_applied.v1'>): Ledger => {
  const amount = usdFrom(payload.amount_usd)
  const after = charged(ledger, NO_USD, amount)
  return payload.is_late === true ? { ...after, realized: minus(after.realized, amount) } : after
}

const closed = (
  ledger: Ledger,
  payload: PayloadOf<'execution.position_closed.v1'>,
  at: Timestamp,
  rule: string | null,
): Ledger => {
  const net = usdFrom(payload.realized_pnl)
  const netReturn = payload.realized_pnl_pct
  return {
    ...ledger,
    cash: plus(ledger.cash, usdFrom(payload.gross_pnl)),
    realized: plus(ledger.realized, net),
    closes: withClose(
      ledger.closes,
      rule === null ? { at, net, netReturn } : { at, net, netReturn, by: rule },
    ),
    lossStreak: streakAfter(ledger.lossStreak, net),
  }
}

/** Adds a close. Each author has its own limit, so a busy strategy does not displace the closes of others. */
const withClose = (closes: readonly ClosedTrade[], close: ClosedTrade): readonly ClosedTrade[] => {
  const own = closesOf(closes, close.by)
  const oldest = own[0]
  if (own.length >= CLOSES_KEPT && closes[0] === oldest) return [...closes.slice(1), close]
  const left = own.length < CLOSES_KEPT ? closes : closes.filter((known) => known !== oldest)
  return [...left.slice(1 - CLOSES_MAX), close]
}

/** Closes of one strategy, or of the brain if `rule` is undefined. Each is judged by its own trades. */
export const closesOf = (closes: readonly ClosedTrade[], rule: string | undefined): readonly ClosedTrade[] =>
  closes.every(({ by }) => by === rule) ? closes : closes.filter(({ by }) => by === rule)

const streakAfter = (streak: number, net: Usd): number => {
  if (net >= FLAT_BELOW) return 0
  return net <= minus(NO_USD, FLAT_BELOW) ? streak + 1 : streak
}
