import { type Timestamp, BEFORE_ALL } from '../../shared/brand.ts'
import type { KnownEvent } from '../../events/catalogue.ts'
import { minus, NO_USD, plus, ratioOf, usdFrom, type Usd } from '../../shared/money.ts'
import { r9 } from '../../shared/numbers.ts'
import { dayOf, msOf } from '../../shared/time.ts'
import { type EquityCurve, INITIAL_CURVE, evolveCurve } from './equity-curve.ts'
import type { CycleFacts, RiskFacts } from './kill-switch.ts'
import type { Ledger } from './ledger.ts'
import type { Orders } from '../orders/orders.ts'
import type { Book } from '../positions/book.ts'

/** State from which the account is computed; part of the state of trading. */
interface Account {
  readonly ledger: Ledger
  readonly book: Book
  readonly risk: Risk
}

/** Cash, plus the unrealized result of open positions at their marks. */
export const equityOf = ({ ledger, book }: Pick<Account, 'ledger' | 'book'>): Usd =>
  plus(ledger.cash, book.unrealized)

/** The account now: ledger, positions and risk together. */
export interface AccountStatus {
  readonly equity: Usd
  readonly peak: Usd
  readonly dayStart: Usd
  /** Losses since 00:00 UTC and since the peak, as parts of equity at that time. */
  readonly dayLoss: number
  readonly drawdown: number
  readonly lossAtStop: Usd
  readonly heat: number
  readonly exposure: Usd
  readonly margin: Usd
}

/** Account at the time `now`: equity may have a new peak, and the day may have changed since the last event. */
export const accountStatusOf = (state: Account, now: Timestamp): AccountStatus => {
  const { ledger, book, risk } = state
  const equity = equityOf(state)
  const isSameDay = risk.dayStart.day === dayOf(now)
  const peak = ledger.hasTraded && risk.peak > equity ? risk.peak : equity
  const dayStart = ledger.hasTraded && isSameDay ? risk.dayStart.equity : equity
  return {
    equity,
    peak,
    dayStart,
    dayLoss: Math.max(0, ratioOf(minus(dayStart, equity), dayStart)),
    drawdown: Math.max(0, ratioOf(minus(peak, equity), peak)),
    lossAtStop: book.lossAtStop,
    heat: heatOf(book.lossAtStop, equity),
    exposure: book.exposure,
    margin: book.margin,
  }
}

export const riskFactsOf = (
  trading: Account & {
    readonly cycles: CycleFacts
    readonly orders: Pick<Orders, 'lastDivergence'>
  },
  now: Timestamp,
): RiskFacts => {
  const { dayLoss, drawdown, heat } = accountStatusOf(trading, now)
  return {
    dayLoss,
    drawdown,
    heat,
    lossStreak: trading.ledger.lossStreak,
    staleCycles: trading.cycles.staleCycles,
    crisisVotes: trading.cycles.crisisVotes,
    fillDivergence: trading.orders.lastDivergence,
    isFlat: trading.book.count === 0,
  }
}

/** Without equity, any risk counts as the whole of it. */
const heatOf = (lossAtStop: Usd, equity: Usd): number => {
  if (lossAtStop === 0n) return 0
  return equity > 0n ? r9(ratioOf(lossAtStop, equity)) : 1
}

/** History of equity: its peak, its value at the start of the day, and its curve. */
export interface Risk {
  readonly peak: Usd
  readonly dayStart: { readonly day: string; readonly equity: Usd }
  readonly curve: EquityCurve
  /** Receive time of the last folded event. */
  readonly at: Timestamp
}

export const INITIAL_RISK: Risk = {
  peak: NO_USD,
  dayStart: { day: '', equity: NO_USD },
  curve: INITIAL_CURVE,
  at: BEFORE_ALL,
}

/** Equity as it was before an event, and whether anything has been traded by then. */
export interface EquityBefore {
  readonly equity: Usd
  readonly hasTraded: boolean
}

/**
 * Inside a batch equity passes through invalid intermediate values, for instance after the bar of one symbol and before
 * that of another. Equity is therefore sampled when the next batch starts, with the value that the last batch left.
 */
export const evolveRisk = (risk: Risk, event: KnownEvent, before: EquityBefore): Risk => {
  const after = lookedAt(risk, event, before)
  if (event.type !== 'execution.capital_moved.v1') return after
  const { peak, dayStart } = after
  const rebased = (was: Usd): Usd => rebasedBy(was, before.equity, usdFrom(event.payload.amount_usd))
  return { ...after, peak: rebased(peak), dayStart: { ...dayStart, equity: rebased(dayStart.equity) } }
}

/** An earlier equity, converted to the current capital, so that losses since then remain the same share. */
const rebasedBy = (was: Usd, before: Usd, moved: Usd): Usd => {
  const after = plus(before, moved)
  return before > 0n && after > 0n ? (((was * after) / before) as Usd) : after
}

/** Risk after a time in which only prices changed equity. */
export const lookedAt = (
  risk: Risk,
  { recordedAt }: Pick<KnownEvent, 'recordedAt'>,
  before: EquityBefore,
): Risk => {
  if (recordedAt === risk.at) return risk
  const { equity, hasTraded } = before
  const day = dayOf(recordedAt)
  const isNewDay = day !== risk.dayStart.day
  return {
    peak: hasTraded && risk.peak > equity ? risk.peak : equity,
    dayStart: isNewDay || !hasTraded ? { day, equity } : risk.dayStart,
    curve: risk.at === '' ? risk.curve : evolveCurve(risk.curve, msOf(risk.at), msOf(recordedAt), equity),
    at: recordedAt,
  }
}
