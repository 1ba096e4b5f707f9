import { describe, expect, it } from 'vitest'
import { marketView, symbolView } from '../market-view.fixture.ts'
import { tradfiBasis } from './tradfi-basis.ts'

const view = (said: Parameters<typeof symbolView>[0]) => marketView(symbolView(said))

describe('tradfi-basis', () => {
  it('passes on what the feed tells', () => {
    const said = { fundingAnnualized: 12.5, basisAnnualized: -4, openInterestChangePct: 1 / 3 }
    const members = { funding_annualized: 12.5, basis_annualized: -4, oi_change_pct: 0.333333333 }
    expect(tradfiBasis.run(view(said))).toEqual({
      status: 'ran',
      rows: [{ type: 'signal.tradfi.v1', payload: { symbol: 'BTC', ...members } }],
    })
  })

  it('leaves out what it does not tell', () => {
    expect(tradfiBasis.run(view({ fundingAnnualized: 0 }))).toEqual({
      status: 'ran',
      rows: [{ type: 'signal.tradfi.v1', payload: { symbol: 'BTC', funding_annualized: 0 } }],
    })
  })

  it('says nothing when it tells nothing', () => {
    const reason = 'the feed has no funding, basis or open interest'
    expect(tradfiBasis.run(view({}))).toEqual({ status: 'degraded', reason })
  })
})
