import { emit, register, registerProducer, submit } from './acts.ts'
import type { RunningService } from './service.ts'

/** BTC data by which the regime is BULL. */
export const bullMarket = async (service: RunningService): Promise<void> => {
  const basis = { symbol: 'BTC', funding_annualized: 12, basis_annualized: 5 }
  await say(service, 'tradfi', 'signal.tradfi.v1', basis)
  await say(service, 'technical', 'signal.ta.v1', { symbol: 'BTC', rsi_14: 58 })
  await say(service, 'social', 'signal.sentiment.v1', { symbol: 'BTC', fear_greed: 62 })
}

/** By two producers of the domain: one alone has at most half of its share. */
const say = async (
  service: RunningService,
  domain: string,
  signalType: string,
  payload: object,
): Promise<void> => {
  const { producers }: { producers: readonly { name: string }[] } = (await service.call('GET', '/producers/'))
    .body
  for (const name of [`${domain}-one`, `${domain}-two`]) {
    if (!producers.some((producer) => producer.name === name)) await registerProducer(service, name, domain)
    await emit(service, name, signalType, payload)
  }
}

/** Submits so many agreeing signals, in a bull market, that an intent follows. */
export const agreementOn = async (service: RunningService, symbol: string, nodeId = 'ann'): Promise<void> => {
  await register(service, nodeId)
  await submit(service, nodeId, { symbol, direction: 'bullish', conviction: 10, rationale: 'all of it' })
  const flows = { symbol, whale_netflow: 1e9, exchange_flow: -1e9, price_momentum_24h: 10 }
  await say(service, 'onchain', 'signal.onchain.v1', flows)
  const etf = { symbol, daily_flow_usd: 1e9, streak_days: 10, cumulative_7d: 5e9 }
  await say(service, 'tradfi', 'signal.etf.v1', etf)
  const social = { symbol, score: 10, direction: 'bullish', source_count: 20 }
  await say(service, 'social', 'signal.social.v1', social)
}
