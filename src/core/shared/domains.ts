/** In the order of the configured weights. Sums over domains run in this order, so equal facts give equal bits. */
export const DOMAINS = ['curator', 'onchain', 'tradfi', 'social', 'technical', 'events'] as const

export type Domain = (typeof DOMAINS)[number]

/** How much each domain counts. */
export type DomainWeights = Readonly<Record<Domain, number>>

export const byDomain = (valueOf: (domain: Domain) => number): DomainWeights => ({
  curator: valueOf('curator'),
  onchain: valueOf('onchain'),
  tradfi: valueOf('tradfi'),
  social: valueOf('social'),
  technical: valueOf('technical'),
  events: valueOf('events'),
})
