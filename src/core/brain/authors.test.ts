import { expect, it } from 'vitest'
import { NOW, stateAfter } from '../../../test/given.fixture.ts'
import { DEFAULT_CONFIGURATION } from '../config/validate.ts'
import type { NewEvent } from '../events/catalogue.ts'
import { DAY_MS, timestampAt } from '../shared/time.ts'
import { HOUR_MS, withItsCall, type Resolved } from '../reputation/calls.fixture.ts'
import { authorsForCycle } from './run-cycle.ts'

const START_MS = Date.parse(NOW) - 60 * DAY_MS
const at = (day: number, hour = 0) => timestampAt(START_MS + day * DAY_MS + hour * HOUR_MS)

/** A call that is fully right or wrong by a price inside its band, so that no direction becomes more likely. */
const resolved = (producer_id: string, symbol: string, day: number, hit: boolean): Resolved => ({
  type: 'attribution.resolved.v1',
  source: 'learning',
  ts: at(day, 4),
  payload: {
    call_id: `${producer_id} ${day}`,
    signal_ids: [],
    producer_id,
    contributor_id: null,
    symbol,
    direction: 'bullish',
    resolved_by: 'horizon',
    position_id: null,
    ref_price: 100,
    exit_price: hit ? 100.22 : 99.78,
    return_pct: hit ? 0.0022 : -0.0022,
    band_pct: 0.0022,
    hit,
    base_rate: 0.5,
    void_reason: null,
    horizon: '4h',
    opened_at: at(day),
    due_at: at(day, 4),
    probability: 0.7,
  },
})

const spoken = (source: string): NewEvent => ({
  type: 'signal.ta.v1',
  source,
  payload: { symbol: 'BTC', rsi_14: 40 },
})

const state = stateAfter([
  ...Array.from({ length: 40 }, (_, day) => [
    ...withItsCall(resolved('technical-analysis', 'BTC', day, true)),
    ...withItsCall(resolved('orderbook-depth', 'ETH', day, false)),
  ]).flat(),
  spoken('technical-analysis'),
  spoken('orderbook-depth'),
  spoken('etf-flows'),
])

const authorsWith = (enabled: boolean) => {
  const learning = { ...DEFAULT_CONFIGURATION.learning, enabled }
  const authors = authorsForCycle(state, { ...DEFAULT_CONFIGURATION, learning }, Date.parse(at(40)))
  return Object.fromEntries(authors.map(({ author }) => [author.id, author.worth]))
}

const openOn = (hours: number) =>
  Object.fromEntries(
    authorsForCycle(state, DEFAULT_CONFIGURATION, Date.parse(at(39, hours))).map(
      ({ author, openOn: symbols }) => [author.id, [...symbols]],
    ),
  )

it('a call counts until its horizon ends, however long a signal stays fresh', () => {
  const both = { 'technical-analysis': ['BTC'], 'orderbook-depth': ['ETH'], 'etf-flows': [] }
  expect(openOn(0)).toStrictEqual(both)
  expect(openOn(3)).toStrictEqual(both)
  expect(openOn(4)).toStrictEqual({ 'technical-analysis': [], 'orderbook-depth': [], 'etf-flows': [] })
})

it('authors are worth what their calls add', () => {
  const worths = authorsWith(true)
  // 35.05 of 45.05 outcomes right, less half of a standard error of 0.149.
  expect(worths['technical-analysis']?.influence).toBeCloseTo(26.275033625, 8)
  expect(worths['technical-analysis']).toMatchObject({ newcomer: 5 / 45, groupId: null })
  expect(worths['orderbook-depth']).toStrictEqual({ influence: 0, newcomer: 5 / 45, groupId: null })
  expect(worths['etf-flows']).toStrictEqual({ influence: 0, newcomer: 1, groupId: null })
})

it('authors are worth the same where learning is off', () => {
  const unproven = { influence: 0, newcomer: 1, groupId: null }
  expect(authorsWith(false)).toStrictEqual({
    'technical-analysis': unproven,
    'orderbook-depth': unproven,
    'etf-flows': unproven,
  })
})
