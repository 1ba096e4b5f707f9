import { priceFrom } from '../shared/money.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../shared/json.ts'
import { r9 } from '../shared/numbers.ts'
import { readdirSync } from 'node:fs'
import { DEFAULT_CONFIGURATION } from '../config/validate.ts'
import { BUILTIN_PRODUCERS, evidenceOf, SIGNAL_TYPES, weightedTypeOf } from './all.ts'
import { RULES } from '../brain/scenario.fixture.ts'
import { DOMAINS } from '../shared/domains.ts'
import { type MarketFacts, UNSEEN_MARKET } from './declare.ts'

const OBSERVED: MarketFacts = { volume24hUsd: 1e9, return24hPct: 2.5, mark: priceFrom(100) }

const read = (kind: string, payload: JsonObject, market: MarketFacts = OBSERVED): number | null => {
  const evidence = evidenceOf({ type: `signal.${kind}.v1`, payload }, market, RULES.brain.parts)
  return evidence === null ? null : r9(evidence)
}

const MEMBERS = `rsi_14 trend_strength volume_ratio bb_position ema_20 ema_50 ema_200 resistance_distance
  support_distance imbalance bid_depth_usd ask_depth_usd whale_netflow exchange_flow volume_24h_usd
  smart_money_netflow supply_change_7d funding_annualized oi_change_pct daily_flow_usd score fear_greed
  consensus_score dispersion models_queried models_responded headline_sentiment impact_score`.split(/\s+/)

const TYPES = SIGNAL_TYPES.map(({ type }) => type)

describe('evidenceOf', () => {
  it.each<readonly [string, JsonObject, number | null]>([
    ['ta', { rsi_14: 60 }, -0.5],
    ['ta', { rsi_14: 99 }, -1],
    ['ta', { trend_strength: 0.4 }, 0.4],
    ['ta', { trend_strength: 0.4, volume_ratio: 0 }, 0.3],
    ['ta', { trend_strength: 0.4, volume_ratio: 50 }, 0.6],
    ['ta', { trend_strength: 0.4, volume_ratio: -50 }, 0.3],
    ['ta', { bb_position: 0.25 }, 0.5],
    ['ta', { ema_20: 101, ema_50: 100 }, 0.5],
    ['ta', { ema_20: 101, ema_50: 100, ema_200: 1000 }, -0.25],
    ['ta', { ema_50: 100, ema_200: 90 }, null],
    ['ta', { ema_20: 101, ema_50: 0 }, null],
    ['ta', { resistance_distance: 3, support_distance: 1 }, 0.5],
    ['ta', { resistance_distance: 0, support_distance: 0 }, null],
    ['ta', { resistance_distance: 3, support_distance: -1 }, null],
    ['ta', { rsi_14: 60, bb_position: 0.25 }, 0],
    ['orderbook', { imbalance: 0.3, bid_depth_usd: 1, ask_depth_usd: 9 }, 0.3],
    ['orderbook', { bid_depth_usd: 3, ask_depth_usd: 1 }, 0.5],
    ['onchain', { whale_netflow: 1e7 }, 0.5],
    ['onchain', { exchange_flow: 5e6 }, -0.5],
    ['onchain', { price_momentum_24h: -5 }, -0.5],
    ['onchain', { active_addresses_change: 10 }, 0.5],
    ['onchain', { whale_netflow: 1e7, volume_24h_usd: 5e9 }, 0.1],
    ['onchain', { whale_netflow: 1e7, volume_24h_usd: 0 }, 0.5],
    ['whale', { smart_money_netflow: -1e7, top_holders_change: 2.5 }, 0],
    ['stablecoin', { supply_change_24h: 0.5, supply_change_7d: 0.75 }, 0.375],
    ['tradfi', { funding_annualized: 25 }, -0.5],
    ['tradfi', { basis_annualized: 1 }, 0.5],
    ['tradfi', { oi_change_pct: -10 }, -0.25],
    ['tradfi', { meltup_score: 3 }, 0.5],
    ['etf', { daily_flow_usd: 5e6 }, 0.5],
    ['etf', { streak_days: -5 }, -0.5],
    ['etf', { cumulative_7d: 25e6 }, 0.5],
    ['social', { score: 6 }, 0.6],
    ['social', { score: 6, echo_chamber_flag: true }, 0.3],
    ['sentiment', { fear_greed: 25 }, 0.5],
    ['aci', { consensus_score: 8, dispersion: 5, models_queried: 4, models_responded: 2 }, 0.2],
    ['aci', { consensus_score: 8, dispersion: 50, models_queried: 4, models_responded: 4 }, 0],
    ['aci', { consensus_score: 8, dispersion: 0, models_queried: 0, models_responded: 0 }, null],
    ['aci', { consensus_score: 8, models_queried: 4, models_responded: 4 }, null],
    ['events', { headline_sentiment: 0.8, impact_score: 0.5 }, 0.6],
    ['events', { headline_sentiment: 0.8 }, 0.4],
    ['strategy', { direction: 'bullish', conviction: 75 }, 0.75],
    ['strategy', { direction: 'bearish', conviction: 75 }, -0.75],
    ['strategy', { direction: 'neutral', conviction: 75 }, 0],
    ['strategy', { direction: 'constructor', conviction: 75 }, null],
    ['strategy', { direction: 'bullish' }, null],
    ['curator', { direction: 'bullish', conviction: 7 }, 0.7],
    ['curator', { direction: 'bearish', conviction: 7 }, -0.7],
    ['curator', { direction: 'neutral' }, 0],
    ['curator', { direction: 'bullish' }, null],
    ['curator', { conviction: 7 }, null],
    ['curator', { direction: 'up', conviction: 7 }, null],
    ['ta', { rsi_14: '60' }, null],
    ['price_ws', { price: 1 }, null],
  ])('reads %s %o as %s', (kind, payload, evidence) => {
    expect(read(kind, payload)).toBe(evidence)
  })

  it('leaves a part out when the market has not been seen', () => {
    expect(read('onchain', { whale_netflow: 1e7 }, UNSEEN_MARKET)).toBeNull()
    expect(read('onchain', { whale_netflow: 1e7, price_momentum_24h: 5 }, UNSEEN_MARKET)).toBe(0.5)
    expect(read('onchain', { whale_netflow: 1e7, volume_24h_usd: 1e9 }, UNSEEN_MARKET)).toBe(0.5)
    expect(read('onchain', { whale_netflow: 1e7 }, { ...OBSERVED, volume24hUsd: 0 })).toBeNull()
    expect(read('tradfi', { oi_change_pct: 10 }, UNSEEN_MARKET)).toBeNull()
    expect(read('tradfi', { oi_change_pct: 10 }, { ...OBSERVED, return24hPct: -5 })).toBe(-0.5)
  })

  it.each([
    ['etf', 'daily_flow_usd'],
    ['etf', 'cumulative_7d'],
    ['onchain', 'whale_netflow'],
    ['onchain', 'exchange_flow'],
    ['whale', 'smart_money_netflow'],
  ])('says nothing of %s about a flow in a volume of next to nothing', (kind, member) => {
    expect(read(kind, { [member]: 0, volume_24h_usd: Number.MIN_VALUE })).toBeNull()
    expect(read(kind, { [member]: 1e7, volume_24h_usd: Number.MIN_VALUE })).toBeNull()
  })

  it('is a number from -1 to 1 or nothing, whatever a payload holds', () => {
    const members = fc.constantFrom(...MEMBERS)
    const values = fc.oneof(fc.double(), fc.integer(), fc.jsonValue()) as fc.Arbitrary<Json>
    fc.assert(
      fc.property(fc.constantFrom(...TYPES), fc.dictionary(members, values), (type, payload) => {
        const evidence = evidenceOf({ type, payload }, OBSERVED, RULES.brain.parts)
        expect(evidence === null || Math.abs(evidence) <= 1).toBe(true)
      }),
      { numRuns: 200 },
    )
  })
})

describe('the list of signal types', () => {
  const weighted = SIGNAL_TYPES.flatMap(({ type }) => weightedTypeOf(type) ?? [])

  it('is alphabetical and has each type once', () => {
    expect(TYPES).toStrictEqual([...new Set(TYPES)].toSorted())
  })

  it('has a file for each of its types, and a type for each file', () => {
    const files = readdirSync(new URL('.', import.meta.url)).filter((name) => !name.includes('.test.'))
    const declared = SIGNAL_TYPES.map(({ name }) => `${name.replaceAll('_', '-')}.ts`)
    expect(files.toSorted()).toStrictEqual([...declared, 'all.ts', 'declare.ts'].toSorted())
  })

  it('covers every domain', () => {
    expect(new Set(weighted.map(({ domain }) => domain))).toStrictEqual(new Set(DOMAINS))
  })

  it.each(weighted)(
    'declares domain, reading and defaults of $type',
    ({ name, domain, settings, partsOf }) => {
      const parts = DEFAULT_CONFIGURATION.brain.parts as Readonly<Record<string, unknown>>
      expect(parts[name]).toStrictEqual(settings === null ? undefined : settings.parse({}))
      expect(DOMAINS).toContain(domain)
      expect(DEFAULT_CONFIGURATION.brain.quality_seconds[domain]).toBeGreaterThan(0)
      expect(DEFAULT_CONFIGURATION.settlement.horizons[domain]).toBeTypeOf('string')
      expect(Object.keys(partsOf({}, (parts[name] ?? null) as never, OBSERVED)).length).toBeGreaterThan(0)
    },
  )

  it('names every built-in producer once', () => {
    const producers = SIGNAL_TYPES.flatMap(({ producer }) => producer ?? [])
    expect(Object.keys(BUILTIN_PRODUCERS)).toHaveLength(producers.length)
  })

  it('gives no weight to other types', () => {
    for (const type of ['signal.price_ws.v1', 'constructor']) {
      expect(weightedTypeOf(type)).toBeUndefined()
      expect(evidenceOf({ type, payload: { rsi_14: 20, score: 9 } }, OBSERVED, RULES.brain.parts)).toBeNull()
    }
  })
})
