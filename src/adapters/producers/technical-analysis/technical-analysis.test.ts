import { describe, expect, it } from 'vitest'
import { barsOf, BAR_SECONDS, marketView, symbolView } from '../market-view.fixture.ts'
import { technicalAnalysis } from './technical-analysis.ts'

const ALL_MEMBERS = [
  'bb_position',
  'ema_20',
  'ema_200',
  'ema_50',
  'resistance_distance',
  'rsi_14',
  'support_distance',
  'symbol',
  'trend',
  'trend_strength',
  'volume_ratio',
]

const rising = (count: number) => Array.from({ length: count }, (_, index) => 100 + index + (index % 2) * 3)

const payloadOf = (closes: readonly number[], variance: number | null = 1e-4) => {
  const run = technicalAnalysis.run(marketView(symbolView({ analysisBars: barsOf(closes), variance })))
  return run.status === 'ran' ? run.rows[0]?.payload : null
}

const membersOf = (...said: Parameters<typeof payloadOf>) => Object.keys(payloadOf(...said) ?? {}).sort()

describe('technical analysis', () => {
  it('says everything after 200 bars', () => {
    expect(membersOf(rising(200))).toEqual(ALL_MEMBERS)
  })

  it.each([
    [199, ['ema_200']],
    [49, ['ema_50', 'ema_200', 'trend', 'trend_strength', 'support_distance', 'resistance_distance']],
    [19, ALL_MEMBERS.filter((member) => !['symbol', 'rsi_14'].includes(member))],
  ])('leaves out after %i bars what needs more', (count, missing) => {
    expect(membersOf(rising(count))).toEqual(ALL_MEMBERS.filter((member) => !missing.includes(member)))
  })

  it('says nothing before 15 bars', () => {
    expect(membersOf(rising(15))).toContain('rsi_14')
    const run = technicalAnalysis.run(marketView(symbolView({ analysisBars: barsOf(rising(14)) })))
    expect(run).toEqual({ status: 'degraded', reason: 'no symbol has 15 analysis bars up to now' })
    expect(technicalAnalysis.run(marketView())).toMatchObject({ status: 'degraded' })
  })

  it('measures the way to the lowest low and the highest high', () => {
    const closes = [50, ...Array.from({ length: 48 }, () => 100), 80, 125, 100]
    expect(payloadOf(closes)).toMatchObject({ support_distance: 0.2, resistance_distance: 0.25 })
  })

  it('measures a trend in standard deviations', () => {
    const closes = rising(60)
    const { ema_20: fast, ema_50: slow } = payloadOf(closes) as { ema_20: number; ema_50: number }
    const variance = 0.09
    const strength = (fast - slow) / closes.at(-1)! / (4 * 0.3)
    expect(payloadOf(closes, variance)?.['trend_strength']).toBeCloseTo(strength, 9)
    expect(payloadOf(closes, 1e-4)).toMatchObject({ trend_strength: 1, trend: 'bullish' })
    expect(payloadOf(closes.toReversed(), 1e-4)).toMatchObject({ trend_strength: -1, trend: 'bearish' })
    expect(payloadOf(closes, 4)).toMatchObject({ trend: 'neutral' })
  })

  it('knows no trend without a volatility, and no bands in a market that stands still', () => {
    const still = Array.from({ length: 200 }, () => 100)
    expect(membersOf(rising(200), null)).not.toContain('trend_strength')
    expect(payloadOf(still, 0)).toEqual({
      symbol: 'BTC',
      rsi_14: 50,
      ema_20: 100,
      ema_50: 100,
      ema_200: 100,
      volume_ratio: 1,
      support_distance: 0,
      resistance_distance: 0,
    })
  })

  it('keeps the digits of a price that is very small', () => {
    const averages = payloadOf([
      ...Array.from({ length: 15 }, () => 0.000_000_12),
      ...Array.from({ length: 5 }, () => 0.000_000_13),
    ])
    expect(averages?.['ema_20']).toBe(0.000_000_122_5)
  })

  it('leaves out a symbol whose bars ended while others go on', () => {
    const closes = rising(40)
    const stopped = symbolView({ symbol: 'OLD', analysisBars: barsOf(closes.slice(0, 37)) })
    const late = symbolView({ symbol: 'LATE', analysisBars: barsOf(closes.slice(0, 38)) })
    const view = marketView(stopped, late, symbolView({ analysisBars: barsOf(closes) }))
    expect(view.asOfMs).toBe(40 * BAR_SECONDS * 1000)
    const run = technicalAnalysis.run(view)
    expect(run.status === 'ran' && run.rows.map(({ payload }) => payload['symbol'])).toEqual(['LATE', 'BTC'])
  })
})
