import { z } from 'zod'

const number = z.number().optional()
const count = z.int().optional()
const symbol = z.string().min(1).max(32)

export const DIRECTIONS = ['bullish', 'bearish', 'neutral'] as const
export const BRAIN_DOMAINS = ['curator', 'onchain', 'tradfi', 'social', 'technical', 'events'] as const
export type BrainDomain = (typeof BRAIN_DOMAINS)[number]

/** `signal.<domain>[.<name>].v<n>` */
export const SIGNAL_TYPE = /^signal(\.[a-z][a-z0-9_]*){1,3}\.v[1-9][0-9]*$/

export const CURATOR_TYPE = 'signal.curator.v1'

export const curatorPayload = z.looseObject({
  symbol: symbol.optional(),
  direction: z.enum(DIRECTIONS).optional(),
  conviction: z.number().min(0).max(10).optional(),
  rationale: z.string().max(20_000).optional(),
})

/** The signals that carry weight or set marks. Known members are checked, others are kept. */
export const SIGNALS: Readonly<
  Record<string, { readonly domain: BrainDomain | null; readonly payload: z.ZodObject }>
> = {
  [CURATOR_TYPE]: { domain: 'curator', payload: curatorPayload },
  'signal.onchain.v1': {
    domain: 'onchain',
    payload: z.looseObject({
      symbol,
      whale_netflow: number,
      exchange_flow: number,
      active_addresses_change: number,
      price_momentum_24h: number,
    }),
  },
  'signal.whale.v1': {
    domain: 'onchain',
    payload: z.looseObject({ symbol, smart_money_netflow: number, top_holders_change: number }),
  },
  'signal.stablecoin.v1': {
    domain: 'onchain',
    payload: z.looseObject({
      stablecoin: z.string().min(1).max(32),
      supply_change_24h: number,
      supply_change_7d: number,
      mint_burn_events: count,
    }),
  },
  'signal.tradfi.v1': {
    domain: 'tradfi',
    payload: z.looseObject({
      symbol,
      basis_annualized: number,
      funding_annualized: number,
      oi_change_pct: number,
      meltup_score: number,
    }),
  },
  'signal.etf.v1': {
    domain: 'tradfi',
    payload: z.looseObject({ symbol, daily_flow_usd: number, streak_days: count, cumulative_7d: number }),
  },
  'signal.social.v1': {
    domain: 'social',
    payload: z.looseObject({
      symbol,
      score: z.number().min(-10).max(10),
      direction: z.enum(DIRECTIONS),
      source_count: z.int(),
      contrarian_flag: z.boolean().optional(),
      echo_chamber_flag: z.boolean().optional(),
    }),
  },
  'signal.sentiment.v1': {
    domain: 'social',
    payload: z.looseObject({
      symbol,
      fear_greed: z.number().min(0).max(100).optional(),
      fear_greed_change_7d: number,
      ct_sentiment: z.string().max(2000).optional(),
    }),
  },
  'signal.aci.v1': {
    domain: 'social',
    payload: z.looseObject({
      symbol,
      consensus_score: z.number().min(-10).max(10),
      models_queried: z.int(),
      models_responded: z.int(),
      dispersion: z.number(),
    }),
  },
  'signal.ta.v1': {
    domain: 'technical',
    payload: z.looseObject({
      symbol,
      rsi_14: number,
      ema_20: number,
      ema_50: number,
      ema_200: number,
      bb_position: number,
      volume_ratio: number,
      trend: z.enum(DIRECTIONS).optional(),
      trend_strength: number,
      support_distance: number,
      resistance_distance: number,
    }),
  },
  'signal.orderbook.v1': {
    domain: 'technical',
    payload: z.looseObject({
      symbol,
      bid_depth_usd: number,
      ask_depth_usd: number,
      imbalance: number,
      lod_score: number,
    }),
  },
  'signal.events.v1': {
    domain: 'events',
    payload: z.looseObject({
      symbol,
      headline_sentiment: z.number().min(-1).max(1).optional(),
      impact_score: z.number().min(0).max(1).optional(),
      event_count: count,
      catalysts: z.array(z.string()).optional(),
    }),
  },
  'signal.price_ws.v1': {
    domain: null,
    payload: z.looseObject({
      symbol,
      price: z.number().gt(0),
      bid: number,
      ask: number,
      venue: z.string().optional(),
    }),
  },
  'signal.price_alert.v1': { domain: null, payload: z.looseObject({}) },
}
