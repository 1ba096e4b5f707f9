import { z } from 'zod'
import { MARGIN_MODES } from '../../shared/venues.ts'
import { choice, flag, group, number, plainText, positiveShare, share, symbol, whole } from './kinds.ts'

const basisPoints = (fallback: number, description: string) =>
  number(fallback, { min: 0, max: 1000 }, description)

/** Keys are sent to this address, so it can only name this machine. */
const LOOPBACK_URL = /^(http:\/\/(127\.0\.0\.1|localhost|\[::1\]):\d{1,5})?$/

const hours = (fallback: number, description: string) =>
  number(fallback, { above: 0, max: 87_600 }, description)

export const execution = group('Orders and positions', {
  mode: choice('paper', ['paper', 'live'], 'paper or live; live needs a venue'),
  paper_start_balance: number(10_000, { above: 0, max: 1_000_000_000 }, 'USD a paper account starts with'),
  confirmation_threshold_usd: number(
    500,
    { min: 0, max: 1_000_000_000 },
    'orders from this size need approval, where approvals are on',
  ),
  paper_min_days: whole(14, 1, 3650, 'days of paper trading before live orders'),
  dcg_symbols: z.array(symbol()).max(1000).default([]).describe('symbols never to be entered (DCG)'),
  stop_loss_pct: positiveShare(0.05, 'distance of the stop from the fill'),
  take_profit_pct: number(0.1, { above: 0, max: 10 }, 'distance of the target from the fill'),
  paper_slippage_bps: basisPoints(5, 'paper fills are this much worse than the price'),
  paper_fee_bps: basisPoints(6, 'paper fee per fill'),
  intent_ttl_seconds: whole(300, 1, 86_400, 'an intent not executed by then expires'),
  approval_ttl_seconds: whole(3600, 1, 604_800, 'the same for one that waits for approval'),
  require_approval: z
    .boolean()
    .nullable()
    .default(null)
    .describe('large orders wait for an operator (empty = only in live mode)'),
  max_entry_drift_pct: positiveShare(0.005, 'no entry when the price moved further than this'),
  min_notional_usd: number(10, { min: 0, max: 1_000_000 }, 'smaller orders are not sent'),
  max_positions_per_symbol: whole(1, 1, 100, 'open positions per symbol'),
  time_stop_hours: hours(72, 'from this age a losing position is closed'),
  time_stop_loss_pct: share(0.025, 'how much it must have lost'),
  max_holding_hours: hours(168, 'from this age any position is closed'),
  degrade_at: share(0.5, 'part of the stop distance lost before a position counts as degrading'),
  paper_partial_fills: flag(false, 'paper orders fill only with the traded volume'),
  paper_max_volume_share: positiveShare(0.1, "share of a bar's volume that may fill"),
  apply_funding: flag(true, 'charge funding at 00, 08 and 16 UTC'),
  paper_funding_bps: z
    .number()
    .min(-1000)
    .max(1000)
    .nullable()
    .default(null)
    .describe('funding that longs pay each time on paper (empty = the rate of the market)'),
  venue: plainText(0, 64)
    .regex(/^([a-z0-9_]+(-sandbox)?)?$/, {
      error: 'must be a venue name in lower case, with -sandbox behind it for practice',
    })
    .default('')
    .describe('venue of live orders (empty = none); add -sandbox for practice'),
  margin_mode: choice(
    'isolated',
    MARGIN_MODES,
    'isolated: a live position risks its own margin; cross: the account',
  ),
  venue_url: plainText(0, 200)
    .regex(LOOPBACK_URL, { error: 'must be http:// with a port on 127.0.0.1, localhost or [::1]' })
    .default('')
    .describe('a simulator of a -sandbox venue on this machine (empty = the venue itself)'),
  venue_stops: flag(true, 'the stop of each position rests at the venue, too, where the venue can'),
  send_timeout_seconds: whole(10, 1, 300, 'the time to send an order; one without answer by then is unknown'),
  exit_timeout_seconds: whole(
    30,
    1,
    3600,
    'an exit open this long raises an alert; its rest is ordered again',
  ),
  max_price_age_seconds: whole(120, 1, 3600, 'no live entry on an older price'),
  max_price_difference_pct: positiveShare(
    0.01,
    "no live entry on a price that differs more from the venue's own",
  ),
  lookups: group('Looking for an unknown order at the venue', {
    attempts: whole(3, 1, 100, 'lookups before it counts as not found'),
    seconds: whole(30, 1, 3600, 'spread over this time'),
  }),
})

export const killSwitch = group('Automatic triggers of the kill switch; l1 raises to level 1 and so on', {
  l1_daily_loss_pct: positiveShare(0.03, 'loss since 00:00 UTC'),
  l1_fill_divergence_pct: positiveShare(0.005, 'fill further than this from the price it was sent at'),
  l1_stale_cycles: whole(2, 1, 10_000, 'cycles in a row in which all data is stale'),
  l1_clock_jump_seconds: whole(10, 2, 3600, 'a jump of the clock of the machine'),
  l2_portfolio_heat_pct: positiveShare(0.06, 'summed loss at the stops over equity'),
  l2_loss_streak: whole(3, 0, 10_000, 'losing closes in a row (0 = off)'),
  l3_crisis_threshold: whole(2, 1, 3, 'crisis votes'),
  l3_max_drawdown_pct: positiveShare(0.3, 'fall from the equity peak'),
  rearm_step: share(0.01, 'how much worse an acknowledged condition must get to fire again'),
})

export const alerts = group('Alerts', {
  repeat_seconds: whole(900, 1, 86_400, 'an alert that still waits for an operator is repeated'),
})

export const universe = group('What is traded', {
  symbols: z
    .array(symbol())
    .min(1)
    .max(1000)
    .default(['BTC', 'ETH', 'SOL', 'SUI', 'HYPE'])
    .describe('the symbols the brain looks at'),
  max_size: whole(100, 1, 1000, 'how many there may be'),
})

const kelly = group(
  'Kelly sizing: a prior belief that closed trades gradually replace, and that returns as they fade',
  {
    p: share(0.55, 'believed chance of a win before any trade'),
    b: number(1.2, { above: 0, max: 100 }, 'believed ratio of mean win to mean loss'),
    prior: number(20, { min: 1, max: 10_000 }, 'weight of that belief, in trades'),
    trades: whole(50, 1, 10_000, 'newest closes that count; 50 are kept'),
    days: whole(90, 1, 3650, 'older closes do not count'),
    half_life_trades: number(40, { min: 1, max: 10_000 }, 'after so many newer closes one counts half'),
    half_life_days: number(30, { min: 0.01, max: 3650 }, 'after so many days a close counts half'),
    fraction: share(0.5, 'share of the full Kelly stake'),
    floor: share(0.005, 'share of equity that is traded, to learn, where results allow less (0 = none)'),
  },
)

export const risk = group('Limits on entries; they end with their condition', {
  max_leverage: number(2, { above: 0, max: 100 }, 'gross exposure over equity, at most'),
  max_position_pct: share(0.1, 'notional of one position over equity, at most'),
  max_portfolio_heat_pct: share(0.06, 'summed loss at the stops over equity, at most'),
  daily_loss_limit_pct: share(0.03, 'no entries after this loss since 00:00 UTC (0 = off)'),
  max_drawdown_pct: share(0.3, 'no entries after this fall from the equity peak'),
  heat_open_fraction: share(0.9, 'part of the heat limit that entries may use'),
  kelly,
})
