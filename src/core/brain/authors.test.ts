import { expect, it } from 'vitest'
import { NOW, stateAfter } from '../../../test/given.fixture.ts'
import { DEFAULT_CONFIGURATION } from '../config/validate.ts'
import type { NewEvent } from '../events/catalogue.ts'
import { withItsCall, type Resolved } from '../reputation/calls.fixture.ts'
import { authorsForCycle } from './run-cycle.ts'

const resolved = (producer_id: string, hit: boolean): Resolved => ({
  type: 'attribution.resolved.v1',
  source: 'learning',
  payload: {
    call_id: 'c',
    signal_ids: [],
    producer_id,
    contributor_id: null,
    symbol: 'BTC',
    direction: 'bullish',
    resolved_by: 'horizon',
    position_id: null,
    ref_price: 100,
    exit_price: 101,
    return_pct: 0.01,
    band_pct: 0.0022,
    hit,
    base_rate: 0.4,
    void_reason: null,
    horizon: '4h',
    opened_at: NOW,
    due_at: NOW,
    probability: 0.7,
  },
})

const spoken = (source: string): NewEvent => ({
  type: 'signal.ta.v1',
  source,
  payload: { symbol: 'BTC', rsi_14: 40 },
})

const state = stateAfter([
  spoken('technical-analysis'),
  spoken('orderbook-depth'),
  ...withItsCall(resolved('technical-analysis', true)),
  ...withItsCall(resolved('orderbook-depth', false)),
])

const authorsWith = (enabled: boolean) => {
  const learning = { ...DEFAULT_CONFIGURATION.learning, enabled }
  const authors = authorsForCycle(state, NOW, { ...DEFAULT_CONFIGURATION, learning })
  return Object.fromEntries(authors.map(({ author }) => [author.id, author]))
}

it('authors are worth what came of their calls', () => {
  expect(authorsWith(true)).toMatchObject({
    'technical-analysis': { reputation: 50 + 50 / 21, trust: 1.5 },
    'orderbook-depth': { reputation: 50 - 50 / 21, trust: 0.5 },
  })
})

it('authors are worth the same where learning is off', () => {
  expect(authorsWith(false)).toMatchObject({
    'technical-analysis': { reputation: 50, trust: 1 },
    'orderbook-depth': { reputation: 50, trust: 1 },
  })
})
