import { priceFrom } from '../../../core/shared/money.ts'
import { describe, expect, it } from 'vitest'
import { marketView, symbolView } from '../market-view.fixture.ts'
import { priceAlerts } from './price-alerts.ts'

const runOf = (return1h: number | null, variance: number | null) =>
  priceAlerts.run(marketView(symbolView({ return1h, variance, close: priceFrom(97) })))

describe('price-alerts', () => {
  it.each([
    [0.025, 'bullish'],
    [-0.025, 'bearish'],
  ])('tells of a return of %f', (return1h, direction) => {
    const payload = { symbol: 'BTC', direction, price: 97, return_1h: return1h, threshold: 0.024 }
    expect(runOf(return1h, 0.004 ** 2)).toEqual({
      status: 'ran',
      rows: [{ type: 'signal.price_alert.v1', payload }],
    })
  })

  it('is content without an alert', () => {
    expect(runOf(0.0239, 0.004 ** 2)).toEqual({ status: 'ran', rows: [] })
    expect(runOf(0, 0)).toEqual({ status: 'ran', rows: [] })
  })

  it('tells of the first move of a price that stood still', () => {
    expect(runOf(0.001, 0)).toMatchObject({ status: 'ran', rows: [{ payload: { threshold: 0 } }] })
  })

  it('says nothing without an hour of prices or without a volatility', () => {
    expect(runOf(null, 1)).toMatchObject({ status: 'degraded', reason: expect.stringContaining('hour') })
    expect(runOf(1, null)).toMatchObject({ status: 'degraded' })
  })
})
