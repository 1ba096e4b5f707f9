import type { BrainDomain } from '../events/signal.ts'

/** The producers this engine ships, and when each runs. Which of them have data depends on the feed. */
export const BUILTIN_PRODUCERS: Readonly<
  Record<string, { readonly domain: BrainDomain; readonly schedule: string | null }>
> = {
  'ai-consensus': { domain: 'social', schedule: '0 * * * *' },
  'curator-intel': { domain: 'curator', schedule: null },
  'etf-flows': { domain: 'tradfi', schedule: '0 * * * *' },
  'market-events': { domain: 'events', schedule: '*/30 * * * *' },
  'market-sentiment': { domain: 'social', schedule: '0 * * * *' },
  'onchain-flows': { domain: 'onchain', schedule: '*/15 * * * *' },
  'orderbook-depth': { domain: 'technical', schedule: '*/5 * * * *' },
  'price-alerts': { domain: 'technical', schedule: '* * * * *' },
  'social-intel': { domain: 'social', schedule: '*/15 * * * *' },
  'stablecoin-supply': { domain: 'onchain', schedule: '0 * * * *' },
  'technical-analysis': { domain: 'technical', schedule: '*/15 * * * *' },
  'tradfi-basis': { domain: 'tradfi', schedule: '*/30 * * * *' },
  'whale-tracking': { domain: 'onchain', schedule: '*/15 * * * *' },
}
