import { emit, register, submit } from './acts.ts'
import type { RunningService } from './service.ts'

/** BTC data by which the regime is BULL. */
export const bullMarket = async (service: RunningService): Promise<void> => {
  const basis = { symbol: 'BTC', funding_annualized: 12, basis_annualized: 5 }
  await emit(service, 'tradfi-basis', 'signal.tradfi.v1', basis)
  await emit(service, 'technical-analysis', 'signal.ta.v1', { symbol: 'BTC', rsi_14: 58 })
  await emit(service, 'market-sentiment', 'signal.sentiment.v1', { symbol: 'BTC', fear_greed: 62 })
}

/** In a bull market, so many say the same of it that an intent follows. */
export const agreementOn = async (service: RunningService, symbol: string, nodeId = 'ann'): Promise<void> => {
  await register(service, nodeId)
  await submit(service, nodeId, { symbol, direction: 'bullish', conviction: 10, rationale: 'all of it' })
  const flows = { symbol, whale_netflow: 1e9, exchange_flow: -1e9, price_momentum_24h: 10 }
  await emit(service, 'onchain-flows', 'signal.onchain.v1', flows)
  const etf = { symbol, daily_flow_usd: 1e9, streak_days: 10, cumulative_7d: 5e9 }
  await emit(service, 'etf-flows', 'signal.etf.v1', etf)
  const social = { symbol, score: 10, direction: 'bullish', source_count: 20 }
  await emit(service, 'social-intel', 'signal.social.v1', social)
}
