import type { Timestamp } from '../shared/brand.ts'
import { describe, expect, it } from 'vitest'
import { NOW, stateAfter } from '../../../test/given.fixture.ts'
import type { NewEvent } from '../events/catalogue.ts'
import { DAY_MS, timestampAt } from '../shared/time.ts'
import { withItsCall, type Resolved } from '../reputation/calls.fixture.ts'
import { provenanceView, viewProvenance } from './reputation.ts'

const daysBefore = (days: number): Timestamp => timestampAt(Date.parse(NOW) - days * DAY_MS)

const said = (days: number): NewEvent => ({
  type: 'signal.ta.v1',
  source: 'p1',
  ts: daysBefore(days),
  payload: { symbol: 'BTC' },
})

const decided = (days: number, direction: 'bullish' | 'bearish', moved: number): Resolved => ({
  type: 'attribution.resolved.v1',
  source: 'learning',
  ts: daysBefore(days),
  payload: {
    call_id: `call of ${days}`,
    signal_ids: [],
    producer_id: 'p1',
    contributor_id: null,
    symbol: 'BTC',
    direction,
    resolved_by: 'horizon',
    position_id: null,
    ref_price: 100,
    exit_price: 100 * (1 + moved),
    return_pct: moved,
    band_pct: 0.0022,
    hit: direction === 'bullish' ? moved > 0 : moved < 0,
    base_rate: 0.4,
    void_reason: null,
    horizon: '24h',
    opened_at: daysBefore(days + 1),
    due_at: daysBefore(days),
    probability: 0.7,
  },
})

const opened = (event: NewEvent): readonly NewEvent[] =>
  event.type === 'attribution.resolved.v1' ? withItsCall(event) : [event]

const viewAfter = (...events: readonly NewEvent[]) =>
  viewProvenance(stateAfter(events.flatMap(opened)), 'p1', { chainOk: true, now: NOW })

describe('provenance', () => {
  it('says of each window how many calls were right, and how deep they fell', () => {
    const view = viewAfter(
      ...[60, 20, 10, 3, 2, 1].map(said),
      decided(59, 'bearish', 0.05),
      decided(19, 'bullish', 0.04),
      decided(9, 'bearish', 0.01),
      decided(2, 'bullish', -0.02),
      decided(1, 'bearish', -0.03),
    )
    expect(view).toMatchObject({
      total_signals: 6,
      p_and_l_attributed: true,
      attribution_windows: {
        '7d': { signals: 3, hit_rate: 0.5, max_drawdown_pct: -0.02 },
        '30d': { signals: 5, hit_rate: 0.5, max_drawdown_pct: -0.03 },
        '90d': { signals: 6, hit_rate: 0.4, max_drawdown_pct: -0.05 },
      },
    })
    expect(provenanceView.parse(view)).toEqual(view)
  })

  it('says nothing of windows without signals', () => {
    const view = viewAfter(said(60), decided(59, 'bullish', 0.01))
    expect(view).toMatchObject({
      attribution_windows: { '90d': { signals: 1, hit_rate: 1, max_drawdown_pct: 0 } },
    })
    expect(view).not.toHaveProperty('attribution_windows.30d')
  })
})
