import { group, share } from './kinds.ts'

export const weights = group('How much each domain counts; the six add up to 1', {
  curator: share(0.25, "people's own calls"),
  onchain: share(0.25, 'flows on chain, whales, stablecoins'),
  tradfi: share(0.2, 'funding, basis, exchange-traded funds'),
  social: share(0.15, 'mood, social intelligence, model consensus'),
  technical: share(0.1, 'indicators and order book'),
  events: share(0.05, 'news and scheduled events'),
})
