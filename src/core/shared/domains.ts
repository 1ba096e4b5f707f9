import type { Horizon } from './time.ts'

interface DomainDefaults {
  /** Weight in the preset `balanced`. The six weights add up to 1. */
  readonly weight: number
  readonly about: string
  /** Seconds for which a signal keeps full quality. */
  readonly freshSeconds: number
  /** Horizon of a call, unless the signal names one. */
  readonly horizon: Horizon
}

/** The domains of evidence, with the defaults of their settings. */
export const DOMAIN_DEFAULTS = {
  curator: { weight: 0.25, about: "people's own calls", freshSeconds: 86_400, horizon: '24h' },
  onchain: {
    weight: 0.25,
    about: 'flows on chain, whales, stablecoins',
    freshSeconds: 21_600,
    horizon: '24h',
  },
  tradfi: {
    weight: 0.2,
    about: 'funding, basis, exchange-traded funds',
    freshSeconds: 21_600,
    horizon: '24h',
  },
  social: {
    weight: 0.15,
    about: 'mood, social intelligence, model consensus',
    freshSeconds: 21_600,
    horizon: '24h',
  },
  technical: { weight: 0.1, about: 'indicators and order book', freshSeconds: 900, horizon: '4h' },
  events: { weight: 0.05, about: 'news and scheduled events', freshSeconds: 21_600, horizon: '24h' },
} as const satisfies Readonly<Record<string, DomainDefaults>>

export type Domain = keyof typeof DOMAIN_DEFAULTS

/** Sums over domains run in this order, so that equal facts give equal bits. */
export const DOMAINS = Object.keys(DOMAIN_DEFAULTS) as readonly Domain[]

export type ByDomain<Value> = Readonly<Record<Domain, Value>>

/** Weight of each domain. */
export type DomainWeights = ByDomain<number>

export const byDomain = <Value>(valueOf: (domain: Domain) => Value): ByDomain<Value> => ({
  curator: valueOf('curator'),
  onchain: valueOf('onchain'),
  tradfi: valueOf('tradfi'),
  social: valueOf('social'),
  technical: valueOf('technical'),
  events: valueOf('events'),
})
