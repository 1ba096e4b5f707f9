import { z } from 'zod'
import { PARTS_SHAPE } from '../../signal-types/all.ts'
import { byDomain, DOMAIN_DEFAULTS, type Domain } from '../../shared/domains.ts'
import { cts, regime } from './brain-regime.ts'
import { group, number, positiveShare, share, symbol, whole } from './kinds.ts'

const threshold = z.number().min(50).max(100)

const magnitude = (fallback: number, description: string) =>
  number(fallback, { min: 0, max: 10 }, description)

const freshFor = (domain: Domain) => {
  const seconds = DOMAIN_DEFAULTS[domain].freshSeconds
  return whole(seconds, 1, 31_536_000, FRESH_FOR[seconds])
}

const FRESH_FOR = { 900: 'a quarter of an hour', 21_600: 'six hours', 86_400: 'one day' } as const

export const brain = group('The cycle that turns signals into conviction and trade intents', {
  cycle_interval_seconds: whole(1800, 1, 86_400, 'seconds between scheduled cycles'),
  min_domains: whole(3, 1, 6, 'domains with usable signals before anything is traded'),
  share_cap: positiveShare(0.5, 'share of one author in a domain, at most (built-ins are free)'),
  regime_symbol: symbol().default('BTC').describe('the symbol whose data decides the regime'),
  tiers: z
    .tuple([threshold, threshold, threshold])
    .default([60, 75, 90])
    .describe('conviction from which a small, medium, large position is opened'),
  direction_threshold: share(0.1, 'evidence below this is neutral'),
  caps: group('Magnitude, at most', {
    with_trend: magnitude(10, 'long in BULL, short in BEAR'),
    against_trend: magnitude(7, 'short in BULL, long in BEAR'),
    transition: magnitude(6, 'in TRANSITION'),
    crisis: magnitude(4, 'in CRISIS'),
  }),
  link: group('Contributors who act as one share one cap', {
    days: whole(30, 1, 365, 'days looked back'),
    pairs: whole(8, 1, 10_000, 'pairs of signals on one symbol that make a link'),
    window_seconds: whole(600, 1, 86_400, 'seconds apart, at most'),
    agreement: share(0.9, 'share of the pairs with equal direction'),
  }),
  quality_seconds: group(
    'A signal keeps full weight this long, then fades over three times as long',
    byDomain(freshFor),
  ),
  parts: group('What turns raw values into evidence between -1 and 1', PARTS_SHAPE),
  cts,
  regime,
})
