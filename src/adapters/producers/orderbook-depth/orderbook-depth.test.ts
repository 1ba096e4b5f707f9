import { describe, expect, it } from 'vitest'
import { marketView, symbolView } from '../market-view.fixture.ts'
import { orderbookDepth } from './orderbook-depth.ts'

const rowsOf = (bidDepthUsd: number | null, askDepthUsd: number | null) =>
  orderbookDepth.run(marketView(symbolView({ bidDepthUsd, askDepthUsd })))

describe('orderbook-depth', () => {
  it('weighs both sides', () => {
    const payload = { symbol: 'BTC', bid_depth_usd: 2e6, ask_depth_usd: 1e6, imbalance: 0.333333333 }
    expect(rowsOf(2e6, 1e6)).toEqual({ status: 'ran', rows: [{ type: 'signal.orderbook.v1', payload }] })
  })

  it('knows no balance of an empty book', () => {
    const payload = { symbol: 'BTC', bid_depth_usd: 0, ask_depth_usd: 0 }
    expect(rowsOf(0, 0)).toEqual({ status: 'ran', rows: [{ type: 'signal.orderbook.v1', payload }] })
  })

  it('says nothing of one side alone', () => {
    expect(rowsOf(2e6, null)).toEqual({
      status: 'degraded',
      reason: 'the feed has no order book depth',
    })
    expect(rowsOf(null, 2e6)).toMatchObject({ status: 'degraded' })
  })
})
