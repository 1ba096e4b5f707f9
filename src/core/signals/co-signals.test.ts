import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NOW, stateAfter } from '../../../test/given.fixture.ts'
import { DEFAULT_CONFIGURATION } from '../config/validate.ts'
import type { NewEvent } from '../events/catalogue.ts'
import { linkedGroups } from './co-signals.ts'

const RULES = DEFAULT_CONFIGURATION.brain.link
const DAY_MS = 86_400_000
const before = (ms: number): string => new Date(Date.parse(NOW) - ms).toISOString()

const word = (
  contributor_id: string,
  ageMs: number,
  direction: 'bullish' | 'bearish' = 'bullish',
  symbol = 'BTC',
): NewEvent => ({
  type: 'attribution.recorded.v1',
  source: contributor_id,
  payload: {
    signal_id: 's',
    contributor_id,
    node_id: contributor_id,
    producer_id: contributor_id,
    received_at: before(ageMs),
    symbol,
    direction,
    score: 5,
  },
})
const groupsAfter = (...events: readonly NewEvent[]) =>
  Object.fromEntries(linkedGroups(stateAfter(events).signals.coSignals, RULES, Date.parse(NOW)))
/** Two who speak one after the other, so many times, a day apart. */
const together = (one: string, other: string, times: number, gapMs = 60_000, symbol = 'BTC') =>
  Array.from({ length: times }, (_, index) => (times - index) * DAY_MS).flatMap((ageMs) => [
    word(one, ageMs, 'bullish', symbol),
    word(other, ageMs - gapMs, 'bullish', symbol),
  ])

describe('contributors are linked', () => {
  it('when their signals on one symbol agree within the window, repeatedly', () => {
    expect(groupsAfter(...together('a', 'b', 7))).toEqual({})
    expect(groupsAfter(...together('a', 'b', 8))).toEqual({ a: 'a', b: 'a' })
  })

  it('not when their signals are far apart, on different symbols, or disagree', () => {
    expect(groupsAfter(...together('a', 'b', 9, 600_001))).toEqual({})
    expect(groupsAfter(...together('a', 'b', 5), ...together('a', 'b', 5, 1, 'ETH'))).toEqual({})
    const opposed = Array.from({ length: 9 }, (_, index) => (20 - index) * DAY_MS).flatMap((ageMs) => [
      word('a', ageMs, 'bullish'),
      word('b', ageMs - 1, 'bearish'),
    ])
    expect(groupsAfter(...opposed)).toEqual({})
  })

  it('not by signals of a month ago', () => {
    const old = together('a', 'b', 8).map((event) => ({
      ...event,
      payload: {
        ...(event.payload as object),
        received_at: new Date(
          Date.parse((event.payload as { received_at: string }).received_at) - 31 * DAY_MS,
        ).toISOString(),
      },
    })) as NewEvent[]
    expect(groupsAfter(...old)).toEqual({})
  })

  it('with at most a year of days kept', () => {
    const { pairs } = stateAfter(together('a', 'b', 400)).signals.coSignals
    expect([...pairs.values()].map(({ days }) => days.length)).toEqual([366])
  })

  it('through third contributors', () => {
    expect(groupsAfter(...together('b', 'c', 8), ...together('a', 'b', 8, 60_000, 'ETH'))).toEqual({
      a: 'a',
      b: 'a',
      c: 'a',
    })
  })

  it('into groups with one name for all members', () => {
    const member = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')
    const pair = fc.tuple(member, member)
    fc.assert(
      fc.property(fc.array(pair, { maxLength: 6 }), (pairs) => {
        const events = pairs.flatMap(([one, other], index) => together(one, other, 8, 1, `S${index}`))
        const groups = groupsAfter(...events)
        for (const [one, other] of pairs) if (one !== other) expect(groups[one]).toBe(groups[other])
      }),
      { numRuns: 30 },
    )
  })
})
