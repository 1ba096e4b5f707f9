import type { JsonObject } from '../../../core/shared/json.ts'
import { rounded } from './rounding.ts'

/** What a source would tell of a symbol: `lean` from -1 (all speaks against it) to 1. */
export interface Leaning {
  readonly symbol: string
  readonly lean: number
  /** Traded per day. */
  readonly volumeUsd: number
}

export interface SimulatedSource {
  readonly producer: string
  readonly type: string
  readonly payloadOf: (leaning: Leaning) => JsonObject
}

/** The producers whose data no price feed has, and what each makes of its leaning. */
export const SIMULATED_SOURCES: readonly SimulatedSource[] = [
  {
    producer: 'ai-consensus',
    type: 'signal.aci.v1',
    payloadOf: ({ symbol, lean }) => ({
      symbol,
      consensus_score: score(5 * lean),
      models_queried: MODELS,
      models_responded: MODELS,
      dispersion: 2,
    }),
  },
  {
    producer: 'etf-flows',
    type: 'signal.etf.v1',
    payloadOf: ({ symbol, lean, volumeUsd }) => ({ symbol, daily_flow_usd: usd(0.005 * volumeUsd * lean) }),
  },
  {
    producer: 'market-events',
    type: 'signal.events.v1',
    payloadOf: ({ symbol, lean }) => ({
      symbol,
      headline_sentiment: score(0.6 * lean),
      impact_score: score(Math.abs(lean)),
    }),
  },
  {
    producer: 'onchain-flows',
    type: 'signal.onchain.v1',
    payloadOf: ({ symbol, lean, volumeUsd }) => ({
      symbol,
      whale_netflow: usd(0.01 * volumeUsd * lean),
      exchange_flow: usd(-0.005 * volumeUsd * lean),
    }),
  },
  {
    producer: 'social-intel',
    type: 'signal.social.v1',
    payloadOf: ({ symbol, lean }) => ({
      symbol,
      score: score(6 * lean),
      direction: lean > 0 ? 'bullish' : lean < 0 ? 'bearish' : 'neutral',
      source_count: SOCIAL_SOURCES,
    }),
  },
  {
    producer: 'stablecoin-supply',
    type: 'signal.stablecoin.v1',
    payloadOf: ({ symbol, lean }) => ({
      symbol,
      stablecoin: 'USDT',
      supply_change_24h: score(0.5 * lean),
    }),
  },
  {
    producer: 'whale-tracking',
    type: 'signal.whale.v1',
    payloadOf: ({ symbol, lean, volumeUsd }) => ({
      symbol,
      smart_money_netflow: usd(0.01 * volumeUsd * lean),
    }),
  },
]

const MODELS = 5
const SOCIAL_SOURCES = 10

const usd = (amount: number): number => rounded(amount, 100)
const score = (value: number): number => rounded(value, 1e9)
