import { Map as PersistentMap } from 'immutable'
import { expect, it } from 'vitest'
import { callId } from '../shared/brand.ts'
import { bullish, configured, say } from './calls.fixture.ts'
import { CALLS_MAX, type Call } from './calls.ts'

/** State with this many open calls of another author. */
const withOpenCalls = (count: number) => {
  const scenario = configured()
  scenario.bar('BTC', 100)
  const { state } = scenario
  const open = PersistentMap(
    Array.from({ length: count }, (_, index) => [callId(`c${index}`), {} as Call] as const),
  )
  scenario.state = {
    ...state,
    reputation: { ...state.reputation, calls: { ...state.reputation.calls, open } },
  }
  return scenario
}

it('calls on symbols without a price, which nobody can judge, leave half of the open calls to others', () => {
  const scenario = withOpenCalls(CALLS_MAX / 2)
  expect(say(scenario, 'bob', { ...bullish, symbol: 'NONE' })).toMatchObject({
    call_id: null,
    direction: 'bullish',
  })
  expect(say(scenario, 'ann', bullish)).toMatchObject({ call_id: expect.any(String), ref_price: 100 })
  const nearly = withOpenCalls(CALLS_MAX / 2 - 1)
  expect(say(nearly, 'bob', { ...bullish, symbol: 'NONE' })).toMatchObject({ call_id: expect.any(String) })
})

it('no call is opened beyond the limit', () => {
  expect(say(withOpenCalls(CALLS_MAX), 'ann', bullish)).toMatchObject({ call_id: null, direction: 'bullish' })
})
