import type { RiskFacts } from './conditions.ts'
import { equityOf, type TradingState } from './evolve.ts'
import { ratioOf, type Usd } from '../shared/money.ts'
import { r9 } from '../shared/numbers.ts'
import { dayOf } from '../shared/time.ts'

/** Where the account stands: one look at ledger, positions and risk together. */
export interface AccountStatus {
  readonly equity: Usd
  readonly peak: Usd
  readonly dayStart: Usd
  readonly dayLoss: number
  readonly drawdown: number
  readonly lossAtStop: Usd
  readonly heat: number
  readonly exposure: Usd
  readonly margin: Usd
}

/** As of now: equity may have a new peak, and the day may have changed since the last event. */
export const accountStatusOf = (
  state: Pick<TradingState, 'ledger' | 'book' | 'risk'>,
  now: string,
): AccountStatus => {
  const { ledger, book, risk } = state
  const equity = equityOf(state)
  const isSameDay = risk.dayStart.day === dayOf(now)
  const peak = ledger.hasTraded && risk.peak > equity ? risk.peak : equity
  const dayStart = ledger.hasTraded && isSameDay ? risk.dayStart.equity : equity
  return {
    equity,
    peak,
    dayStart,
    dayLoss: Math.max(0, ratioOf(dayStart - equity, dayStart)),
    drawdown: Math.max(0, ratioOf(peak - equity, peak)),
    lossAtStop: book.lossAtStop,
    heat: heatOf(book.lossAtStop, equity),
    exposure: book.exposure,
    margin: book.margin,
  }
}

export const riskFactsOf = (trading: TradingState, now: string): RiskFacts => {
  const { dayLoss, drawdown, heat } = accountStatusOf(trading, now)
  return {
    dayLoss,
    drawdown,
    heat,
    lossStreak: trading.ledger.lossStreak,
    staleCycles: trading.cycles.staleCycles,
    crisisVotes: trading.cycles.crisisVotes,
    fillDivergence: trading.orders.lastDivergence,
  }
}

/** With nothing left, any risk is all of it. */
const heatOf = (lossAtStop: Usd, equity: Usd): number => {
  if (lossAtStop === 0n) return 0
  return equity > 0n ? r9(ratioOf(lossAtStop, equity)) : 1
}
