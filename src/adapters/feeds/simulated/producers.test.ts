import { describe, expect, it } from 'vitest'
import { signalTypeOf } from '../../../core/signal-types/all.ts'
import type { MarketView } from '../../../core/market/readings.ts'
import type { JsonObject } from '../../../core/shared/json.ts'
import { createDraws } from './draws.ts'
import { pathOf, sha256Hex } from './path.fixture.ts'
import { hiddenSymbolsOf, simulatedProducers, type HiddenMarket } from './producers.ts'

const drawsOf = (stream: string) => createDraws(42, 1, stream, sha256Hex)
const viewAt = (asOfMs: number, ...symbols: readonly string[]) =>
  ({
    asOfMs,
    analysisBarSeconds: 900,
    symbols: symbols.map((symbol) => ({ symbol })),
  }) as unknown as MarketView

const hiddenMarketOf = (drift: number, stretch: number): HiddenMarket => ({
  symbols: new Map([['BTC', { drift, stretch, volumeUsd: 1000 }]]),
  drawsOf,
})

const runAll = (hiddenMarket: HiddenMarket | null, view = viewAt(1, 'BTC')) =>
  new Map(simulatedProducers(() => hiddenMarket).map((producer) => [producer.name, producer.run(view)]))

/** The payload of each producer for BTC. */
const payloadsOf = (drift: number, stretch: number): Readonly<Record<string, JsonObject>> =>
  Object.fromEntries(
    [...runAll(hiddenMarketOf(drift, stretch))].map(([name, run]) => [
      name,
      run.status === 'ran' ? (run.rows[0]?.payload ?? {}) : {},
    ]),
  )

describe('a simulated producer', () => {
  it('follows its leaning', () => {
    expect(payloadsOf(1, -1)).toEqual({
      'ai-consensus': {
        symbol: 'BTC',
        consensus_score: 5,
        models_queried: 5,
        models_responded: 5,
        dispersion: 2,
      },
      'etf-flows': { symbol: 'BTC', daily_flow_usd: 5 },
      'market-events': { symbol: 'BTC', headline_sentiment: 0.6, impact_score: 1 },
      'onchain-flows': { symbol: 'BTC', whale_netflow: 10, exchange_flow: -5 },
      'social-intel': { symbol: 'BTC', score: 6, direction: 'bullish', source_count: 10 },
      'stablecoin-supply': { symbol: 'BTC', stablecoin: 'USDT', supply_change_24h: 0.5 },
      'whale-tracking': { symbol: 'BTC', smart_money_netflow: 10 },
    })
  })

  it('is mirrored when the leaning is', () => {
    const payloads = payloadsOf(-1, 1)
    expect(payloads['ai-consensus']).toMatchObject({ consensus_score: -5 })
    expect(payloads['market-events']).toMatchObject({ headline_sentiment: -0.6, impact_score: 1 })
    expect(payloads['onchain-flows']).toMatchObject({ whale_netflow: -10, exchange_flow: 5 })
    expect(payloads['social-intel']).toMatchObject({ score: -6, direction: 'bearish' })
  })

  it('leans by phase, swing and a noise of its own', () => {
    const noise = drawsOf('prod:social-intel:BTC').normal()
    const lean = 0.5 * 1 - 8 * 0.05 + 0.4 * noise
    expect(payloadsOf(1, 0.05)['social-intel']?.score).toBeCloseTo(6 * lean, 8)
  })

  it('is valid however far it leans', () => {
    for (const [drift, stretch] of [
      [0, 0],
      [1, -5],
      [-1, 5],
      [0, 0.01],
    ] as const) {
      for (const run of runAll(hiddenMarketOf(drift, stretch)).values()) {
        for (const { type, payload } of run.status === 'ran' ? run.rows : []) {
          expect(() => signalTypeOf(type)?.payload.parse(payload)).not.toThrow()
        }
      }
    }
  })
})

describe('a source', () => {
  it('is degraded before the market starts, and for symbols without a bar', () => {
    for (const run of runAll(null).values()) expect(run.status).toBe('degraded')
    for (const run of runAll(hiddenMarketOf(0, 0), viewAt(1, 'DOGE')).values())
      expect(run.status).toBe('degraded')
  })

  it('has one row per symbol, whatever other symbols there are', () => {
    const path = pathOf({}, { symbols: ['BTC', 'ETH', 'SOL'] })
    for (let step = 0; step < 100; step += 1) path.step()
    const hiddenMarket = { symbols: hiddenSymbolsOf(path), drawsOf }
    const among = runAll(hiddenMarket, viewAt(1, 'ETH', 'BTC', 'SOL'))
    const alone = runAll(hiddenMarket, viewAt(1, 'BTC'))
    for (const [name, run] of among) {
      const rows = run.status === 'ran' ? run.rows : []
      expect(rows.map(({ payload }) => payload.symbol)).toEqual(['ETH', 'BTC', 'SOL'])
      expect(alone.get(name)).toEqual({ status: 'ran', rows: [rows[1]] })
    }
  })
})
