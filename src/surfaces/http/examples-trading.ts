import { TS, EVENT_ID, CYCLE_ID, POSITION_ID, CYCLE, POSITION } from './examples.ts'

export const TRADE_INTENT_ID = CYCLE.intents[0].intent_id

export const INTENT = {
  ...CYCLE.intents[0],
  cycle_id: CYCLE_ID,
  conviction_id: EVENT_ID,
  intended_price: 100,
  approval_required: true,
  approved: true,
  order_id: '0d1f1f5e-6a0b-8b7e-9c55-4f3f1f0a2b11',
} as const

export const DENIED_INTENT = {
  ...INTENT,
  status: 'rejected',
  reasons: ['approval_denied'],
  approved: false,
  position_id: null,
  order_id: null,
} as const

export const ORDER = {
  order_id: INTENT.order_id,
  position_id: POSITION_ID,
  intent_id: INTENT.intent_id,
  venue: 'paper',
  symbol: 'BTC',
  side: 'buy',
  purpose: 'entry',
  trigger_price: null,
  reduce_only: false,
  quantity: 4.9975,
  filled_quantity: 4.9975,
  fills: 1,
  reference_price: 100,
  submitted_at: TS,
  valid_until: '2026-02-20T01:00:00.000Z',
  status: 'filled',
  cancel_reason: null,
  needs_operator: false,
} as const

export const CANCELED_ORDER = {
  ...ORDER,
  status: 'canceled',
  filled_quantity: 0,
  fills: 0,
} as const

export const LIVE = {
  mode: 'live',
  venue: 'binanceusdm',
  sends_entries: false,
  held_back_by: ['paper_period'],
  reasons: [
    {
      code: 'paper_period',
      text:
        'Fewer than 14 days on paper with prices of a real market (execution.paper_min_days); days of a simulated ' +
        'market or a file do not count.',
    },
  ],
  confirmed: { venue: 'binanceusdm', by: 'svc-0123456789abcdef', at: TS },
  checks: { at: TS, ok: true, items: [{ name: 'reachable', ok: true, detail: 'the venue answers' }] },
  reduce_only: null,
  unknown_orders: [],
  adopted_positions: [],
} as const

export const CLOSED_POSITION = {
  ...POSITION,
  status: 'closed',
  closed_at: '2026-02-20T00:45:00.000Z',
  exit_price: 100.9495,
  exit_reason: 'manual',
  fees_usd: 0.602698,
  realized_pnl: 3.89251,
  unrealized_pnl: null,
} as const

export const PORTFOLIO = {
  as_of: TS,
  mode: 'paper',
  account: 'paper',
  live: null,
  equity_usd: 10_004.15,
  cash_usd: 9999.7,
  start_balance_usd: 10_000,
  realized_pnl_usd: 0,
  unrealized_pnl_usd: 4.45,
  fees_usd: 0.3,
  funding_usd: 0,
  open_positions: 1,
  exposure_usd: 504.7475,
  margin_usd: 504.7475,
  loss_at_stop_usd: 25.82,
  heat: 0.002580929,
  peak_equity_usd: 10_004.15,
  drawdown: 0,
  day_start_equity_usd: 10_000,
  day_loss: 0,
  loss_streak: 0,
  limits: {
    max_leverage: 2,
    max_position_pct: 0.1,
    max_portfolio_heat_pct: 0.06,
    heat_open_fraction: 0.9,
    daily_loss_limit_pct: 0.03,
    max_drawdown_pct: 0.3,
    l1_daily_loss_pct: 0.03,
    l2_portfolio_heat_pct: 0.06,
    l2_loss_streak: 3,
    l3_max_drawdown_pct: 0.3,
  },
} as const

export const EQUITY_HISTORY = {
  as_of: TS,
  points: [
    { ts: '2026-02-19T23:29:58.000Z', equity_usd: 10_000 },
    { ts: TS, equity_usd: 10_004.45 },
  ],
} as const

const PREVIOUS = { curator: 0.25, onchain: 0.25, tradfi: 0.2, social: 0.15, technical: 0.1, events: 0.05 }
const LEARNED = {
  curator: 0.25825,
  onchain: 0.25325,
  tradfi: 0.19,
  social: 0.14825,
  technical: 0.10025,
  events: 0.05,
}

export const LEARNING_RUN = {
  id: EVENT_ID,
  at: TS,
  trigger: 'schedule',
  reason: 'adjusted',
  applied: true,
  step: 0.01,
  observations: 42,
  window_mean_return: 0.0041,
  correlations: { curator: 1, onchain: 0.5, tradfi: -1, social: 0, technical: 0.2, events: -1 },
  edges: { curator: 0, onchain: 0, tradfi: 0, social: 0, technical: 0, events: 0 },
  previous_weights: PREVIOUS,
  new_weights: LEARNED,
  deltas: {
    curator: 0.00825,
    onchain: 0.00325,
    tradfi: -0.01,
    social: -0.00175,
    technical: 0.00025,
    events: 0,
  },
  weights_version: 1,
} as const

export const WEIGHTS = {
  weights: LEARNED,
  origin: 'learned',
  version: 1,
  learned_at: TS,
  configured_weights: PREVIOUS,
  first_close_at: '2026-01-02T09:00:00.000Z',
  last_run_at: TS,
  next_run_at: '2026-02-26T00:00:00.000Z',
  history: [LEARNING_RUN],
} as const

export const MARKET_SYMBOL = {
  symbol: 'BTC',
  in_universe: true,
  bar_seconds: 60,
  last_open_ts: '2026-02-20T00:28:00.000Z',
  last_close_ts: '2026-02-20T00:29:00.000Z',
  last_close: 67_412.5,
}

export const PRICE = {
  symbol: 'BTC',
  price: 67_412.5,
  as_of: '2026-02-20T00:29:00.000Z',
  last_close: 67_412.5,
  last_close_ts: '2026-02-20T00:29:00.000Z',
}

export const BAR = {
  symbol: 'BTC',
  resolution_s: 60,
  open_ts: '2026-02-20T00:28:00.000Z',
  close_ts: '2026-02-20T00:29:00.000Z',
  open: 67_400,
  high: 67_420,
  low: 67_390,
  close: 67_412.5,
  volume: 3.25,
  quote_volume: 219_090.63,
  backfill: false,
}
