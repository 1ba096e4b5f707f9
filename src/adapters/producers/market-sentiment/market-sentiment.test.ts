import { describe, expect, it } from 'vitest'
import { marketView, symbolView } from '../market-view.fixture.ts'
import { marketSentiment } from './market-sentiment.ts'

const payloadsOf = (fearGreed: number | null, fearGreedChange7d: number | null) => {
  const run = marketSentiment.run(marketView(symbolView({ fearGreed, fearGreedChange7d })))
  return run.status === 'ran' ? run.rows.map(({ payload }) => payload) : run.reason
}

describe('market-sentiment', () => {
  it('tells fear and greed, and how it changed', () => {
    expect(payloadsOf(62, -8)).toEqual([{ symbol: 'BTC', fear_greed: 62, fear_greed_change_7d: -8 }])
    expect(payloadsOf(0, null)).toEqual([{ symbol: 'BTC', fear_greed: 0 }])
  })

  it('says nothing without it', () => {
    expect(payloadsOf(null, null)).toBe('the feed has no fear and greed index')
    expect(payloadsOf(null, 3)).toBe('the feed has no fear and greed index')
  })

  it('is one signal per symbol', () => {
    const view = marketView(...['BTC', 'ETH'].map((symbol) => symbolView({ symbol, fearGreed: 50 })))
    expect(marketSentiment.run(view)).toMatchObject({
      rows: [{ payload: { symbol: 'BTC' } }, { payload: { symbol: 'ETH' } }],
    })
  })
})
