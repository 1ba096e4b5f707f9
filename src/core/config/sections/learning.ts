import { z } from 'zod'
import { byDomain, DOMAIN_DEFAULTS, type Domain } from '../../shared/domains.ts'
import { STRATEGY_NAME } from '../../shared/strategy-name.ts'
import { HORIZONS } from '../../shared/time.ts'
import { choice, flag, group, number, plainText, share, symbol, text, whole } from './kinds.ts'

const horizonOf = (domain: Domain) =>
  choice(DOMAIN_DEFAULTS[domain].horizon, HORIZONS, '1h, 4h, 24h, 3d or 7d')

export const weights = group(
  'How much each domain counts; the six add up to 1',
  byDomain((domain) => share(DOMAIN_DEFAULTS[domain].weight, DOMAIN_DEFAULTS[domain].about)),
)

export const signals = group('Signals', {
  max_future_skew_seconds: whole(300, 0, 86_400, "how far a signal's clock may be ahead"),
  signed_max_age_seconds: whole(300, 1, 86_400, 'how old the ts of a signed submission may be'),
})

export const producers = group('Producers', {
  allow_private_endpoints: flag(false, 'poll addresses inside your own network'),
  poll_timeout_seconds: whole(10, 1, 60, 'an answer must be complete by then'),
  quarantine_after: whole(5, 1, 1000, 'errors in a row before a producer is set aside'),
  quarantine_seconds: whole(3600, 1, 604_800, 'for how long'),
  stale_intervals: whole(3, 1, 1000, 'expected runs missed before it counts as stale'),
})

/** Files in `strategies` that run. Files without an entry here are only available to backtests. */
export const strategies = z
  .record(
    z.string().regex(STRATEGY_NAME),
    z.strictObject({
      enabled: z.boolean().default(false),
      parameters: z
        .record(plainText(1, 64), z.union([z.number(), z.boolean(), plainText(0, 1000)]))
        .default({}),
      /** Empty for the whole universe. */
      symbols: z.array(symbol()).max(1000).readonly().default([]),
    }),
  )
  .default({})
  .describe(
    'strategies that trade, by name: { cross: { enabled: true, parameters: { fast: 5 }, symbols: [BTC] } }',
  )

export const settlement = group('Judging calls', {
  horizons: group('When a call is judged, unless it says so itself', byDomain(horizonOf)),
  grace_seconds: whole(1800, 0, 86_400, 'the deciding bar may close this much later'),
  band_min: share(0.0022, 'smaller moves are flat; at least one round trip of costs'),
  band_sigma: number(0.25, { min: 0, max: 10 }, 'the same in standard deviations of the horizon'),
  dead_zone: share(0.1, 'evidence below this is a neutral call'),
  prior: number(10, { above: 0, max: 10_000 }, 'weight of the believed base rate, in cases'),
})

export const learning = group('Adjusting the weights', {
  enabled: flag(true, 'off: weights stay as configured, and every author counts alike'),
  window_days: whole(30, 1, 365, 'closes of these days count'),
  min_positions: whole(20, 1, 10_000, 'closes needed in that time'),
  max_step: number(0.02, { min: 0, max: 0.1 }, 'a weight moves by this much, at most'),
  interval_seconds: whole(604_800, 1, 31_536_000, 'seconds between runs'),
  min_pairs: whole(10, 2, 10_000, 'trades a domain must have scored'),
  floor: share(0.05, 'no weight is learned below this'),
  ceiling: share(0.4, 'or above this'),
  cold_days: whole(30, 0, 3650, 'days after the first close without any change'),
  warm_days: whole(90, 0, 3650, 'days after the first close with half steps'),
  revert_after: whole(3, 1, 1000, 'worse runs in a row before going back to the configured weights'),
})

export const karma = group('Sharing profit with contributors', {
  enabled: flag(true, 'write an intent for each profitable close'),
  percentage: share(0.005, 'share of the net profit'),
  settlement_mode: choice(
    'manual',
    ['manual', 'daily', 'weekly', 'threshold'],
    'manual, daily, weekly (Monday) or threshold',
  ),
  threshold_usd: number(50, { min: 0, max: 1_000_000_000 }, 'pending sum that settles in mode threshold'),
  treasury_address: text('', 128, 'where it goes (empty = no intents)'),
  evidence_k: number(10, { min: 0, max: 10_000 }, 'resolved calls at which activity counts half'),
  producer_k: number(20, { above: 0, max: 10_000 }, 'outcomes (by spacing) at which skill counts half'),
  producer_window_days: whole(90, 1, 3650, 'outcomes of these days count'),
  feedback_weight: share(0.25, 'weight of feedback against an outcome'),
  influence: group('How much an author counts, by what its calls add', {
    half_life: number(
      200,
      { above: 0, max: 10_000 },
      'after so many newer outcomes (by spacing) one counts half',
    ),
    prior: number(10, { min: 0, max: 10_000 }, 'outcomes at chance that every author begins with'),
    caution: number(0.5, { min: 0, max: 10 }, 'standard errors taken off what its calls seem to add'),
    half_edge: number(0.05, { above: 0, max: 1 }, 'contribution with half of the weight evidence can give'),
    scale: number(40, { above: 0, max: 10_000 }, 'weight that evidence can give; a newcomer has 1'),
    newcomer_calls: number(
      5,
      { above: 0, max: 10_000 },
      'outcomes (by spacing) at which an author is half a newcomer',
    ),
  }),
})
