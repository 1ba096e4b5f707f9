import type { Configuration } from '../core/config/schema.ts'
import type { Timestamp } from '../core/shared/brand.ts'
import { blocksExits } from '../core/shared/level.ts'
import { usdNumber, type Usd } from '../core/shared/money.ts'
import { dayOf } from '../core/shared/time.ts'
import type { State } from '../core/state.ts'
import { accountStatusOf, equityOf, lookedAt, riskFactsOf } from '../core/trading/risk/account.ts'
import type { TradingState } from '../core/trading/evolve.ts'
import { liveIntentsOf } from '../core/trading/orders/intents.ts'
import { assessRisk, trueConditions, type KillSwitch } from '../core/trading/risk/kill-switch.ts'
import { isSettlementDue } from '../core/treasury/settle.ts'

type RiskRules = Pick<Configuration, 'kill_switch' | 'risk'>

/** Whether nothing is under way that the next bar may end, whatever its price. */
export const canBeQuiet = (state: State, now: Timestamp, configuration: Configuration): boolean => {
  const { trading, standsAt, treasury, recordedAt } = state
  const { killSwitch, orders, intents, venue, book } = trading
  if (standsAt !== null || orders.open.size > 0 || liveIntentsOf(intents).length > 0) return false
  if (recordedAt >= now) return false
  if (venue.invented.size > 0 && venue.firstPaperAt !== null && venue.inventedDay !== dayOf(now)) return false
  if (book.count > 0 && blocksExits(killSwitch.level)) return false
  return !isSettlementDue(treasury, configuration, now) && !isRiskNews(trading, now, configuration)
}

/** The first bar of a day begins the day of the account. */
export const inDayOf = (state: State, now: Timestamp): State => {
  const { trading } = state
  if (trading.risk.dayStart.day === dayOf(now)) return state
  const before = { equity: equityOf(trading), hasTraded: trading.ledger.hasTraded }
  const risk = lookedAt(trading.risk, { recordedAt: now }, before)
  return { ...state, trading: { ...trading, risk } }
}

/** Whether the kill switch would move as things are, without a new price. */
export const isRiskNews = (trading: TradingState, now: Timestamp, rules: RiskRules): boolean => {
  const conditions = trueConditions(riskFactsOf(trading, now), rules.kill_switch, rules.risk)
  const decision = assessRisk(trading.killSwitch, conditions)
  return decision.status === 'refused' || decision.events.length > 0
}

/** Equity strictly between these moves nothing. */
export interface EquityBand {
  /** In USD. */
  readonly above: number
  readonly below: number
  /** As shares of the highest equity so far. */
  readonly shareAbove: number
  readonly shareBelow: number
}

export const UNLIMITED: EquityBand = {
  above: -Infinity,
  below: Infinity,
  shareAbove: -Infinity,
  shareBelow: Infinity,
}

export const isInBand = (band: EquityBand, usd: number, peakUsd: number): boolean =>
  usd > band.above && usd < band.below && usd > band.shareAbove * peakUsd && usd < band.shareBelow * peakUsd

/** Where equity leaves the conditions of the kill switch as they are. */
export const equityBand = (
  trading: TradingState,
  now: Timestamp,
  { kill_switch: rules }: RiskRules,
): EquityBand => {
  const { dayStart, lossAtStop } = accountStatusOf(trading, now)
  const { killSwitch } = trading
  const loss = usdNumber(lossAtStop)
  const bands = [
    bandOf(killSwitch, 'daily_loss_pct', rules.l1_daily_loss_pct, 1, rules.rearm_step, fallFrom(dayStart)),
    bandOf(
      killSwitch,
      'portfolio_heat_pct',
      rules.l2_portfolio_heat_pct,
      2,
      rules.rearm_step,
      (heat) => loss / heat,
    ),
  ]
  const shares = bandOf(
    killSwitch,
    'max_drawdown_pct',
    rules.l3_max_drawdown_pct,
    3,
    rules.rearm_step,
    (fall) => 1 - fall,
  )
  return {
    above: Math.max(0, ...bands.map(({ above }) => above)),
    below: Math.min(...bands.map(({ below }) => below)),
    shareAbove: shares.above,
    shareBelow: shares.below,
  }
}

const fallFrom =
  (whole: Usd) =>
  (share: number): number =>
    usdNumber(whole) * (1 - share)

/** All conditions get worse as equity falls: `equityAt` says where one has a value. */
const bandOf = (
  { level, acknowledged }: KillSwitch,
  name: string,
  threshold: number,
  to: number,
  step: number,
  equityAt: (value: number) => number,
): Pick<EquityBand, 'above' | 'below'> => {
  const known = acknowledged[name]
  const isNewsFrom = known === undefined ? threshold : Math.max(threshold, known + step)
  const raises = to > level
  return {
    above: raises ? (isNewsFrom > SLACK ? equityAt(isNewsFrom - SLACK) : Infinity) : -Infinity,
    // One that was acknowledged is forgotten when it is over.
    below: known === undefined ? Infinity : equityAt(threshold + SLACK),
  }
}

/** Values are compared in nine decimals: so near a limit the deciders decide. */
const SLACK = 1e-7
