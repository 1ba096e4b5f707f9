import { describe, expect, it } from 'vitest'
import { authorKey } from '../shared/author-key.ts'
import { callId, contributorId } from '../shared/brand.ts'
import type { KnownEvent } from '../events/catalogue.ts'
import type { JsonObject } from '../shared/json.ts'
import {
  barAfter,
  bullish,
  configured,
  HOUR_MS,
  recordOf,
  say,
  stringOrEmpty,
  verdictsIn,
} from './calls.fixture.ts'
import { type Calls, evolveCalls } from './calls.ts'
import { tallyWithin } from './outcomes.ts'

describe('a call', () => {
  it.each([
    ['1h', 1],
    ['4h', 4],
    ['24h', 24],
    ['3d', 72],
    ['7d', 168],
  ])('of %s is joined for an eighth of that: what is said again later is judged again', (horizon, hours) => {
    const scenario = configured()
    scenario.bar('BTC', 100)
    const said = { ...bullish, horizon }
    const first = say(scenario, 'ann', said)
    scenario.wait((hours * HOUR_MS) / 8 - 1)
    expect(say(scenario, 'ann', said)).toMatchObject({ call_id: first['call_id'] })
    scenario.wait(1)
    const second = say(scenario, 'ann', said)
    expect(second['call_id']).not.toBe(first['call_id'])
    expect(say(scenario, 'ann', said)).toMatchObject({ call_id: second['call_id'] })
    expect(scenario.state.reputation.calls.open.size).toBe(2)
  })

  it('and a later one that says the same are judged each by its own time', () => {
    const scenario = configured()
    scenario.bar('BTC', 100)
    const first = say(scenario, 'ann', bullish)['call_id']
    barAfter(scenario, 12 * HOUR_MS, 104)
    const second = say(scenario, 'ann', bullish)['call_id']
    expect(verdictsIn(barAfter(scenario, 12 * HOUR_MS, 102))).toMatchObject([{ call_id: first, hit: true }])
    expect(verdictsIn(barAfter(scenario, 12 * HOUR_MS, 102))).toMatchObject([{ call_id: second, hit: false }])
    expect(recordOf(scenario, 'ann')).toMatchObject({ resolved: 2, profitable: 1 })
  })

  it("is as far from its author's call before on the symbol as the time between them, over its horizon", () => {
    const scenario = configured()
    scenario.bar('BTC', 100)
    const spacingAfter = (hours: number, node: string, payload: JsonObject) => {
      scenario.wait(hours * HOUR_MS)
      const id = stringOrEmpty(say(scenario, node, payload)['call_id'])
      return scenario.state.reputation.calls.open.get(callId(id))?.spacing
    }
    const bearish = { ...bullish, direction: 'bearish' }
    expect(spacingAfter(0, 'ann', bullish)).toBe(1)
    expect(spacingAfter(6, 'ann', bullish)).toBe(0.25)
    // The direction of the earlier call does not matter.
    expect(spacingAfter(3, 'ann', bearish)).toBe(0.125)
    expect(spacingAfter(0, 'ann', { ...bullish, direction: 'neutral' })).toBe(0)
    expect(spacingAfter(3, 'ann', { ...bearish, horizon: '4h' })).toBe(0.75)
    expect(spacingAfter(0, 'ann', { ...bullish, symbol: 'ETH' })).toBe(1)
    expect(spacingAfter(0, 'bob', bullish)).toBe(1)
    expect(spacingAfter(30, 'ann', bullish)).toBe(1)
  })

  it('has a spacing, whatever damaged times stand in the log', () => {
    const scenario = configured()
    scenario.bar('BTC', 100)
    const said = say(scenario, 'ann', bullish)
    const after = (calls: Calls, changes: JsonObject): Calls =>
      evolveCalls(calls, {
        type: 'attribution.recorded.v1',
        payload: { ...said, ...changes },
      } as unknown as KnownEvent)
    const { calls } = scenario.state.reputation
    const damaged = after(calls, { call_id: 'damaged', direction: 'bearish', received_at: 'never' })
    expect(damaged.open.get(callId('damaged'))?.spacing).toBe(1)
    const sound = after(damaged, { call_id: 'sound', direction: 'neutral' })
    expect(sound.open.get(callId('sound'))?.spacing).toBe(0)
  })

  it('counts as evidence by that: who says the same all day is as surely judged as who says it once', () => {
    const scenario = configured()
    scenario.bar('BTC', 100)
    for (let hour = 0; hour < 24; hour += 3) {
      if (hour === 0) say(scenario, 'bob', bullish)
      say(scenario, 'ann', bullish)
      barAfter(scenario, 3 * HOUR_MS, 100)
    }
    for (let hour = 0; hour < 24; hour += 3) barAfter(scenario, 3 * HOUR_MS, 101)
    const evidenceOf = (node: string) => {
      const { outcomes } = scenario.state.reputation
      const author = authorKey(contributorId(`id of ${node}`), node)
      const { resolved, evidence } = tallyWithin(outcomes, author, scenario.now, 90)
      return { resolved, evidence, spacings: outcomes.edges.get(author)?.spacings }
    }
    expect(evidenceOf('bob')).toEqual({ resolved: 1, evidence: 1, spacings: 1 })
    expect(evidenceOf('ann')).toEqual({ resolved: 8, evidence: 1.875, spacings: 1.875 })
  })

  it('is joined again by who comes back to it early, and repeated by who comes back late', () => {
    const scenario = configured()
    scenario.bar('BTC', 100)
    const first = say(scenario, 'ann', bullish)
    scenario.wait(HOUR_MS)
    say(scenario, 'ann', { direction: 'bearish' })
    scenario.wait(HOUR_MS)
    expect(say(scenario, 'ann', bullish)).toMatchObject({ call_id: first['call_id'] })
    scenario.wait(HOUR_MS)
    expect(say(scenario, 'ann', bullish)['call_id']).not.toBe(first['call_id'])
    expect(scenario.state.reputation.calls.open.size).toBe(3)
  })
})
