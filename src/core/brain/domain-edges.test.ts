import { describe, expect, it } from 'vitest'
import { INITIAL_STATE, type State } from '../state.ts'
import { at, closed, folded, lately, learnAt } from './learning.fixture.ts'

/**
 * A call of this day that is fully right or wrong by a price inside its band, so that no direction becomes more likely.
 */
const judged = (
  state: State,
  day: number,
  producer: string,
  hit: boolean,
  contributor: string | null = null,
): State => {
  const call = {
    call_id: `${producer} ${day}`,
    contributor_id: contributor,
    producer_id: producer,
    symbol: 'BTC',
    direction: 'bullish',
    horizon: '24h',
    probability: 0.7,
    ref_price: 100,
    due_at: at(day + 1),
  }
  const made = {
    ...call,
    signal_id: `s ${producer} ${day}`,
    node_id: null,
    received_at: at(day),
    score: null,
    ref_sigma: null,
  }
  const known = folded(state, 'attribution.recorded.v1', made, at(day))
  const verdict = {
    ...call,
    signal_ids: [made.signal_id],
    resolved_by: 'horizon',
    position_id: null,
    exit_price: hit ? 101 : 99,
    return_pct: hit ? 0.01 : -0.01,
    band_pct: 0.01,
    hit,
    base_rate: 0.5,
    void_reason: null,
    opened_at: at(day),
  }
  return folded(known, 'attribution.resolved.v1', verdict, at(day + 1))
}

describe('a learning run', () => {
  it('moves weight to the domain whose calls are better than chance, also where trades say nothing of it', () => {
    const traded = lately(60, 30).reduce(
      (state, day, index) => closed(state, day, { won: index % 2 === 0 }),
      closed(INITIAL_STATE, 0, { won: true }),
    )
    // A built-in producer of tradfi, right in two of three calls; one of onchain, right in one of two.
    const called = Array.from({ length: 60 }, (_, index) => index).reduce(
      (state, index) =>
        judged(
          judged(state, index, 'tradfi-basis', index % 3 !== 0),
          index,
          'whale-tracking',
          index % 2 === 0,
        ),
      traded,
    )
    const { run: made } = learnAt(called, 61)
    expect(made.correlations).toMatchObject({ tradfi: 0, onchain: 0 })
    // Forty of sixty right, the newer ones counting more, with ten outcomes at chance beside them.
    expect(made.edges?.['tradfi']).toBeCloseTo(0.280918312, 9)
    expect(made.edges?.['onchain']).toBeCloseTo(-0.002880864, 9)
    expect(made.deltas['tradfi']).toBeGreaterThan(0.009)
    expect(made.deltas['onchain']).toBeLessThan(0)
    expect(learnAt(traded, 61).run).toMatchObject({ reason: 'unchanged', edges: { tradfi: 0 } })
  })

  it('leaves out contributors that were removed: their word has no weight any more', () => {
    const ann = { contributor_id: 'a', node_id: 'ann', name: 'Ann', role: 'curator', metadata: {} }
    const wrong = Array.from({ length: 40 }, (_, index) => index).reduce(
      (state, index) => judged(state, index, 'ann', false, 'a'),
      folded(INITIAL_STATE, 'contributor.registered.v1', ann, at(0)),
    )
    expect(learnAt(wrong, 61).run.edges?.['curator']).toBeLessThan(-0.5)
    const removed = folded(wrong, 'contributor.removed.v1', { contributor_id: 'a', node_id: 'ann' }, at(50))
    expect(learnAt(removed, 61).run.edges).toMatchObject({ curator: 0 })
  })
})
