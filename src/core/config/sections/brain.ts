import { z } from 'zod'
import { PARTS_SHAPE } from '../../signal-types/all.ts'
import { byDomain, type Domain, DOMAIN_DEFAULTS } from '../../shared/domains.ts'
import { group, number, positiveShare, share, symbol, whole } from './kinds.ts'

const threshold = z.number().min(50).max(100)
const tierSize = z.number().gt(0).max(1)
const tierLeverage = z.number().gt(0).max(100)

const magnitude = (fallback: number, description: string) =>
  number(fallback, { min: 0, max: 10 }, description)

const freshFor = (domain: Domain) => {
  const seconds = DOMAIN_DEFAULTS[domain].freshSeconds
  return whole(seconds, 1, 31_536_000, FRESH_FOR[seconds])
}

const FRESH_FOR = { 900: 'a quarter of an hour', 21_600: 'six hours', 86_400: 'one day' } as const

const percentPerYear = (fallback: number, description: string) =>
  number(fallback, { min: -1000, max: 1000 }, description)

const index = (fallback: number, description: string) => number(fallback, { min: 0, max: 100 }, description)

const votes = (fallback: number, description: string) => whole(fallback, 1, 4, description)

const regime = group('Votes that decide the regime; crisis is asked first, then bull, then bear', {
  bull: group('Votes for BULL', {
    funding_above: percentPerYear(5, 'funding in % per year above this'),
    funding_below: percentPerYear(30, 'and below this'),
    basis_above: percentPerYear(3, 'basis in % per year above this'),
    basis_below: percentPerYear(8, 'and below this'),
    rsi_above: index(50, 'RSI above this'),
    fear_greed_above: index(40, 'fear and greed index above this'),
    votes: votes(3, 'votes needed'),
  }),
  bear: group('Votes for BEAR', {
    funding_below: percentPerYear(0, 'funding in % per year below this'),
    basis_below: percentPerYear(2, 'basis in % per year below this'),
    rsi_below: index(30, 'RSI below this'),
    fear_greed_below: index(25, 'fear and greed index below this'),
    votes: votes(3, 'votes needed'),
  }),
  crisis: group('Votes for CRISIS', {
    funding_below: percentPerYear(-10, 'funding in % per year below this'),
    basis_above: percentPerYear(8, 'basis in % per year above this'),
    basis_below: percentPerYear(1, 'or below this'),
    fear_greed_below: index(15, 'fear and greed index below this'),
    votes: votes(2, 'votes needed'),
  }),
})

const ramp = (signal: string, [neutral, from, to, points]: readonly [number, number, number, number]) =>
  group(`Points against the thesis from ${signal}`, {
    neutral: number(neutral, { min: -1000, max: 1000 }, `${signal} that says nothing`),
    from: number(from, { min: 0, max: 1000 }, 'deviation on the crowded side where points begin'),
    to: number(to, { above: 0, max: 1000 }, 'deviation where all points are given'),
    points: number(points, { min: 0, max: 100 }, 'points at that deviation'),
  })

const cts = group('Counter-thesis: how crowded the own side is', {
  rsi: ramp('RSI', [50, 5, 30, 25]),
  funding: ramp('funding', [10, 0, 30, 25]),
  basis: ramp('basis', [5, 1, 7, 20]),
  crisis_points: number(30, { min: 0, max: 100 }, 'points in CRISIS'),
  max_points: number(100, { min: 0, max: 1000 }, 'points in all, at most'),
  damping_points: number(200, { above: 0, max: 10_000 }, 'points that would silence a conviction'),
})

export const brain = group('The cycle that turns signals into conviction and trade intents', {
  cycle_interval_seconds: whole(1800, 1, 86_400, 'seconds between scheduled cycles'),
  cycle_deadline_seconds: whole(5, 0, 60, 'a cycle waits this long for its bar and producers, at most'),
  min_domains: whole(3, 1, 6, 'domains with usable signals before anything is traded'),
  share_cap: positiveShare(0.5, 'share of one author in a domain, at most (built-ins are free)'),
  regime_symbol: symbol().default('BTC').describe('the symbol whose data decides the regime'),
  tiers: z
    .tuple([threshold, threshold, threshold])
    .default([60, 75, 90])
    .describe('conviction from which a small, medium, large position is opened'),
  tier_size_pct: z
    .tuple([tierSize, tierSize, tierSize])
    .default([0.02, 0.05, 0.1])
    .describe('share of equity of a small, medium, large position'),
  tier_leverage: z
    .tuple([tierLeverage, tierLeverage, tierLeverage])
    .default([1, 2, 2])
    .describe('leverage of a small, medium, large position'),
  direction_threshold: share(0.1, 'evidence below this is neutral'),
  caps: group('Magnitude, at most', {
    with_trend: magnitude(10, 'long in BULL, short in BEAR'),
    against_trend: magnitude(7, 'short in BULL, long in BEAR'),
    transition: magnitude(6, 'in TRANSITION'),
    crisis: magnitude(4, 'in CRISIS'),
  }),
  quality_seconds: group(
    'A signal keeps full weight this long, then fades over three times as long',
    byDomain(freshFor),
  ),
  parts: group('What turns raw values into evidence between -1 and 1', PARTS_SHAPE),
  cts,
  regime,
})
