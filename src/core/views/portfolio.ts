import type { Timestamp } from '../shared/brand.ts'
import { timestampAt } from '../shared/time.ts'
import { z } from 'zod'
import { accountStatusOf } from '../trading/risk/account.ts'
import type { Configuration } from '../config/schema.ts'
import type { State } from '../state.ts'
import { type Usd, usdNumber } from '../shared/money.ts'
import { r9 } from '../shared/numbers.ts'
import { picked } from './members.ts'
import { liveView, viewLive } from './kill-switch.ts'
import { type EquityCurve, readCurve } from '../trading/risk/equity-curve.ts'

const limits = z
  .object({
    max_leverage: z.number(),
    max_position_pct: z.number(),
    max_portfolio_heat_pct: z.number(),
    heat_open_fraction: z.number(),
    daily_loss_limit_pct: z.number(),
    max_drawdown_pct: z.number(),
    l1_daily_loss_pct: z.number(),
    l2_portfolio_heat_pct: z.number(),
    l2_loss_streak: z.int(),
    l3_max_drawdown_pct: z.number(),
  })
  .meta({ description: 'of `risk` for entries, of `kill_switch` (l1 to l3) for its levels' })

const pickLimits = picked(limits)

export const portfolioView = z.object({
  as_of: z.string(),
  mode: z.enum(['paper', 'live']),
  account: z.string().meta({ description: '`paper`, or the venue whose money it is' }),
  live: liveView.nullable().meta({ description: 'whether real orders are sent; null on paper' }),
  equity_usd: z.number().meta({ description: 'cash and what open positions would bring at their marks' }),
  cash_usd: z.number(),
  start_balance_usd: z.number(),
  capital_moved_usd: z.number().meta({
    description: 'deposits at the venue since the start, less withdrawals; neither is a profit or a loss',
  }),
  unexplained_loss_usd: z.number().meta({
    description:
      'losses around missing positions that nothing explains, zero or below; a part of the realized result',
  }),
  unexplained_usd: z.number().meta({
    description:
      'what the balance at the venue has more (or less, below zero) than these books: not a part of equity',
  }),
  realized_pnl_usd: z.number().meta({ description: 'of closed positions, net of fees and funding' }),
  unrealized_pnl_usd: z.number(),
  fees_usd: z.number(),
  funding_usd: z.number().meta({ description: 'positive: paid' }),
  open_positions: z.int(),
  exposure_usd: z.number().meta({ description: 'notional of open positions at their marks' }),
  margin_usd: z.number(),
  loss_at_stop_usd: z.number().meta({ description: 'what all stops together would cost' }),
  heat: z.number().meta({ description: 'loss at the stops over equity' }),
  peak_equity_usd: z.number(),
  drawdown: z.number().meta({ description: 'fall from the peak, as a part of it' }),
  day_start_equity_usd: z.number().meta({ description: 'at 00:00 UTC' }),
  day_loss: z.number().meta({ description: 'since 00:00 UTC, as a part of equity then' }),
  loss_streak: z.int().meta({ description: 'losing closes in a row' }),
  limits,
})

export type PortfolioView = z.infer<typeof portfolioView>

/** Figures of the account, beside the limits that apply to them. */
export const viewPortfolio = (state: State, configuration: Configuration, now: Timestamp): PortfolioView => {
  const { execution, risk, kill_switch: killSwitch } = configuration
  const { ledger, book, venue } = state.trading
  const status = accountStatusOf(state.trading, now)
  return {
    as_of: now,
    mode: execution.mode,
    account: ledger.account,
    live: execution.mode === 'live' ? viewLive(state, configuration, now) : null,
    equity_usd: usdNumber(status.equity),
    cash_usd: usdNumber(ledger.cash),
    start_balance_usd: usdNumber(ledger.startBalance),
    capital_moved_usd: usdNumber(ledger.moved),
    unexplained_loss_usd: usdNumber(ledger.unexplainedLoss),
    unexplained_usd: usdNumber(venue.unexplained),
    realized_pnl_usd: usdNumber(ledger.realized),
    unrealized_pnl_usd: usdNumber(book.unrealized),
    fees_usd: usdNumber(ledger.fees),
    funding_usd: usdNumber(ledger.funding),
    open_positions: book.count,
    exposure_usd: usdNumber(status.exposure),
    margin_usd: usdNumber(status.margin),
    loss_at_stop_usd: usdNumber(status.lossAtStop),
    heat: status.heat,
    peak_equity_usd: usdNumber(status.peak),
    drawdown: r9(status.drawdown),
    day_start_equity_usd: usdNumber(status.dayStart),
    day_loss: r9(status.dayLoss),
    loss_streak: ledger.lossStreak,
    limits: pickLimits({ ...risk, ...killSwitch }),
  }
}

export const equityHistoryView = z.object({
  as_of: z.string(),
  points: z
    .array(z.object({ ts: z.string(), equity_usd: z.number() }))
    .meta({ description: 'oldest first; what equity was then; the last one is the equity of `as_of`' }),
})

export type EquityHistoryView = z.infer<typeof equityHistoryView>

interface EquityFacts {
  readonly nowMs: number
  readonly sinceMs: number
  readonly points: number
  readonly equity: Usd
  readonly curve: EquityCurve
}

/** Equity at evenly spaced times and now. Without samples, the current equity stands for all times. */
export const viewEquityHistory = ({
  nowMs,
  sinceMs,
  points,
  equity,
  curve,
}: EquityFacts): EquityHistoryView => {
  const past = readCurve(curve, { sinceMs, untilMs: nowMs, points })
  const known = past.length > 0 ? past : [{ atMs: sinceMs, equity }]
  return {
    as_of: isoOf(nowMs),
    points: [...known, { atMs: nowMs, equity }].map((point) => ({
      ts: isoOf(point.atMs),
      equity_usd: cents(usdNumber(point.equity)),
    })),
  }
}

const cents = (usd: number): number => Math.round(usd * 100) / 100

const isoOf = (ms: number): string => timestampAt(ms)
