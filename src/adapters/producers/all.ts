import type { Producer } from '../../ports/producer.ts'
import { marketSentiment } from './market-sentiment/market-sentiment.ts'
import { orderbookDepth } from './orderbook-depth/orderbook-depth.ts'
import { priceAlerts } from './price-alerts/price-alerts.ts'
import { technicalAnalysis } from './technical-analysis/technical-analysis.ts'
import { tradfiBasis } from './tradfi-basis/tradfi-basis.ts'

/** Producers that read market data of any feed. Their schedules are declared in core/signal-types. */
export const BUILT_IN_PRODUCERS: readonly Producer[] = [
  marketSentiment,
  orderbookDepth,
  priceAlerts,
  technicalAnalysis,
  tradfiBasis,
]
