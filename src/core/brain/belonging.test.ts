import { signalId } from '../shared/brand.ts'
import { priceFrom } from '../shared/money.ts'
import { canonicalSymbol } from '../shared/symbol.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Regime } from './regime.ts'
import {
  builtin,
  cycleOf,
  firstOf,
  HOUR_MS,
  MINUTE_MS,
  regimeSignals,
  signalOf,
  type BrainSignal,
} from './scenario.fixture.ts'
import { KINDS, signalsOf, viewOf, views } from './views.fixture.ts'

const regimes = fc.constantFrom<Regime>('BULL', 'BEAR', 'CRISIS', 'TRANSITION')

const think = (signals: readonly BrainSignal[], regime: Regime) =>
  cycleOf({
    signals: [...signals, ...regimeSignals(regime)],
    market: [
      { symbol: canonicalSymbol('ETH'), volume24hUsd: 2e9, return24hPct: null, mark: priceFrom(3000) },
    ],
  })

describe('which types score', () => {
  it.each(KINDS)('signal.%s.v1 can move PCS', (kind) => {
    const moves = fc.sample(viewOf(kind, fc.constant(builtin('house'))), 40)
    const scores = moves.map((view) => firstOf(think(signalsOf([{ ...view, ageMs: 0 }]), 'BULL')).pcsScore)
    expect(Math.max(...scores)).toBeGreaterThan(50)
    expect(Math.min(...scores)).toBeLessThan(50)
  })

  it('no other type can, nor does it keep data fresh', () => {
    const types = fc.oneof(
      fc.constantFrom(
        'signal.price_ws.v1',
        'signal.price_alert.v1',
        'signal.ta.v2',
        'signal.ta',
        '__proto__',
      ),
      fc.string(),
    )
    const payload = {
      rsi_14: 0,
      trend_strength: 1,
      score: 10,
      price: 1,
      direction: 'bullish',
      conviction: 10,
    }
    fc.assert(
      fc.property(types, views, (type, all) => {
        fc.pre(!KINDS.some((kind) => type === `signal.${kind}.v1`))
        const unrelated = { ...signalOf('ta', payload, { id: 'stranger' }), type }
        const signals = signalsOf(all)
        expect(firstOf(think([unrelated, ...signals], 'BULL'))).toStrictEqual(firstOf(think(signals, 'BULL')))
      }),
    )
  })
})

describe('signals that do not belong', () => {
  const HORIZON_MS = { ta: 4 * 900_000, onchain: 4 * 21_600_000, curator: 4 * 86_400_000 } as const

  const unrelated = fc.oneof(
    viewOf('ta').chain((view) =>
      fc.constantFrom(-1, -MINUTE_MS, -HOUR_MS).map((ageMs) => ({ view, ageMs, symbol: 'ETH' })),
    ),
    viewOf('ta').chain((view) =>
      fc
        .constantFrom(null, '', ' ', 'GLOBAL', 'global', 'SOL', 'ETHW', '/ETH')
        .map((symbol) => ({ view, ageMs: 0, symbol })),
    ),
    fc
      .constantFrom('ta' as const, 'onchain' as const, 'curator' as const)
      .chain((kind) =>
        fc
          .tuple(viewOf(kind), fc.integer({ min: 0, max: 1e6 }))
          .map(([view, beyondMs]) => ({ view, ageMs: HORIZON_MS[kind] + beyondMs, symbol: 'ETH' })),
      ),
  )

  it('never change a symbol: of the future, without or with another symbol, or older than four times fresh', () => {
    fc.assert(
      fc.property(
        fc.array(unrelated, { minLength: 1, maxLength: 5 }),
        views,
        regimes,
        (noise, all, regime) => {
          const signals = signalsOf(all)
          const noisy = signalsOf(noise.map(({ view, ageMs }) => ({ ...view, ageMs }))).map(
            (signal, index): BrainSignal => ({
              ...signal,
              id: signalId(`noise${index}`),
              symbol: canonicalSymbol(noise[index]?.symbol ?? ''),
            }),
          )
          const expected = firstOf(think(signals, regime))
          expect(firstOf(think([...signals, ...noisy], regime))).toStrictEqual(expected)
          expect(firstOf(think([...noisy, ...signals], regime))).toStrictEqual(expected)
        },
      ),
    )
  })

  it('never count for GLOBAL, even where the universe names it', () => {
    const signals = [signalOf('ta', { rsi_14: 22 }, { symbol: 'global' })]
    expect(firstOf(cycleOf({ symbols: ['GLOBAL'], signals }))).toMatchObject({ pcsScore: 50, inputs: [] })
  })

  it('count in any spelling of the symbol', () => {
    const valueFor = (symbol: string) =>
      firstOf(think([signalOf('ta', { rsi_14: 30 }, { symbol })], 'BULL')).value
    expect(['eth', ' ETH ', 'ETH/USDT', 'ETH-PERP', 'ethusd'].map(valueFor)).toStrictEqual([1, 1, 1, 1, 1])
  })

  it('wait no longer than a slow producer needs for its next turn', () => {
    const slow = builtin('slow', { intervalMs: 2 * HOUR_MS })
    const qualityAt = (hours: number) =>
      firstOf(
        think([signalOf('ta', { rsi_14: 30 }, { author: slow, ageMs: hours * HOUR_MS })], 'BULL'),
      ).domains.map(({ quality }) => quality)
    expect([2, 5, 8].map(qualityAt)).toStrictEqual([[1], [0.5], []])
  })
})
