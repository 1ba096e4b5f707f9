import { Map as PersistentMap } from 'immutable'
import { describe, expect, it } from 'vitest'
import { stateAfter } from '../../../test/given.fixture.ts'
import type { KnownEvent, NewEvent } from '../events/catalogue.ts'
import { DAY_MS } from '../shared/time.ts'
import { after, at, key, recorded, shareOf, START_MS, type Said } from './overlaps.fixture.ts'
import { evolveOverlaps, NO_OVERLAPS, repeatsOf, type Overlaps } from './overlaps.ts'

const cycle = (hours: number): KnownEvent =>
  ({ type: 'brain.cycle.v1', ts: at(hours), payload: {} }) as unknown as KnownEvent
const event = (said: Said): KnownEvent => recorded(said) as unknown as KnownEvent
const nobody = (): number => 0

describe('an author repeats another', () => {
  it.each([
    [0.001, 1],
    [6, 0.9375],
    [12, 0.75],
    [23, 0.081597222],
  ])('who said the same %f hours before, by %f', (hours, share) => {
    const overlaps = after({ who: 'ann', hour: 0 }, { who: 'bob', hour: hours })
    expect(shareOf(overlaps, 'bob', 'ann')).toBeCloseTo(share, 6)
    expect(shareOf(overlaps, 'ann', 'bob')).toBeUndefined()
  })

  it('not once the horizon is over', () => {
    expect(repeatsOf(after({ who: 'ann', hour: 0 }, { who: 'bob', hour: 24 }))).toEqual([])
  })

  it('not on another symbol', () => {
    expect(repeatsOf(after({ who: 'ann', hour: 0 }, { who: 'bob', hour: 1, symbol: 'ETH' }))).toEqual([])
  })

  it('to the contrary by disagreeing, and not at all by expecting nothing', () => {
    const against = after({ who: 'ann', hour: 0 }, { who: 'bob', hour: 6, direction: 'bearish' })
    expect(shareOf(against, 'bob', 'ann')).toBe(-0.9375)
    const neutral = after({ who: 'ann', hour: 0 }, { who: 'bob', hour: 6, direction: 'neutral' })
    expect(shareOf(neutral, 'bob', 'ann')).toBe(0)
    const both = after(
      { who: 'ann', hour: 0, direction: 'neutral' },
      { who: 'bob', hour: 6, direction: 'neutral' },
    )
    expect(shareOf(both, 'bob', 'ann')).toBe(0.9375)
  })

  it('once with a call that several of its signals join', () => {
    const once = after({ who: 'ann', hour: 0 }, { who: 'bob', hour: 1, callId: 'b' })
    const joined = after(
      { who: 'ann', hour: 0 },
      { who: 'bob', hour: 1, callId: 'b' },
      { who: 'bob', hour: 2, callId: 'b', dueHour: 25 },
      { who: 'bob', hour: 3, callId: 'b', dueHour: 25 },
    )
    expect(joined).toEqual(once)
  })

  it('once with further calls that say the same while the first is open', () => {
    const first: readonly Said[] = [
      { who: 'ann', hour: 0 },
      { who: 'bob', hour: 6 },
    ]
    const again = after(...first, { who: 'bob', hour: 12 }, { who: 'bob', hour: 29 })
    expect(repeatsOf(again)).toEqual(repeatsOf(after(...first)))
    expect(again.counts).toEqual(after(...first).counts)
  })

  it('again with a call after the first is over', () => {
    const over = after(
      { who: 'ann', hour: 0 },
      { who: 'bob', hour: 6 },
      { who: 'ann', hour: 28 },
      { who: 'bob', hour: 30 },
    )
    expect(over.counts.get(key('bob'))?.calls).toBe(2)
    expect(shareOf(over, 'bob', 'ann')).toBeGreaterThan(0.94)
  })

  it('with a call after it said something else', () => {
    const decoy = after(
      { who: 'ann', hour: 0 },
      { who: 'bob', hour: 0, direction: 'neutral' },
      { who: 'bob', hour: 6 },
    )
    // The weight consists of two calls.
    expect(shareOf(decoy, 'bob', 'ann')).toBeCloseTo(0.9375 / (1 + 2 ** -0.01), 12)
  })

  it('with the part of its calls that does so, and with new ones more than with old ones', () => {
    const calls = (count: number, isCopy: (index: number) => boolean): readonly Said[] =>
      Array.from({ length: count }, (_, index): readonly Said[] => [
        { who: 'ann', hour: index * 30 },
        { who: 'bob', hour: index * 30, symbol: isCopy(index) ? 'BTC' : 'ETH' },
      ]).flat()
    expect(shareOf(after(...calls(10, () => true)), 'bob', 'ann')).toBeCloseTo(1, 12)
    expect(shareOf(after(...calls(200, (index) => index % 4 === 3)), 'bob', 'ann')).toBeCloseTo(
      0.252605276,
      9,
    )
    // The half-life is 100 calls.
    expect(shareOf(after(...calls(200, (index) => index < 100)), 'bob', 'ann')).toBeCloseTo(1 / 3, 9)
    expect(shareOf(after(...calls(200, (index) => index >= 100)), 'bob', 'ann')).toBeCloseTo(2 / 3, 9)
  })

  it('with the uncertainty of as many coins as it made calls', () => {
    const overlaps = after(
      ...Array.from({ length: 4 }, (_, index): readonly Said[] => [
        { who: 'ann', hour: index * 30 },
        { who: 'bob', hour: index * 30 },
      ]).flat(),
    )
    const [pair] = repeatsOf(overlaps)
    expect(pair?.variance).toBeCloseTo(0.252605, 5)
  })
})

describe('what leanings explain', () => {
  it('is the product of both, over the newest calls', () => {
    const calls = (count: number, isUp: (index: number) => boolean): readonly Said[] =>
      Array.from({ length: count }, (_, index): readonly Said[] => [
        { who: 'ann', hour: index * 30, direction: isUp(index) ? 'bullish' : 'bearish' },
        { who: 'bob', hour: index * 30 + 1 },
      ]).flat()
    const byLean = (said: readonly Said[]): number | undefined => repeatsOf(after(...said))[0]?.byLean
    expect(byLean(calls(10, () => true))).toBe(1)
    expect(byLean(calls(10, () => false))).toBe(-1)
    expect(byLean(calls(200, (index) => index >= 100))).toBeCloseTo(1 / 3, 9)
    expect(
      byLean([
        { who: 'ann', hour: 0, direction: 'neutral' },
        { who: 'bob', hour: 1 },
      ]),
    ).toBe(0)
  })
})

describe('calls on invented symbols, which no price can judge', () => {
  const invented = (who: string, index: number, hour: number): Said => ({
    who,
    hour,
    symbol: `NONE${index}`,
    refPrice: null,
  })

  it("do not make a copy a smaller part of its author's calls", () => {
    const said = Array.from({ length: 10 }, (_, index) => [
      { who: 'ann', hour: index * 30 },
      { who: 'bob', hour: index * 30 + 1 },
      ...Array.from({ length: 9 }, (_empty, place) => invented('bob', 9 * index + place, index * 30 + 2)),
    ]).flat()
    expect(shareOf(after(...said), 'bob', 'ann')).toBeCloseTo(1 - (1 / 24) ** 2, 9)
  })

  it('do not keep the engine from seeing copies on real ones', () => {
    const flood = Array.from({ length: 2000 }, (_, index) => invented('eve', index, 0))
    const overlaps = after(...flood, { who: 'ann', hour: 1 }, { who: 'bob', hour: 2 })
    expect(shareOf(overlaps, 'bob', 'ann')).toBeCloseTo(1 - (1 / 24) ** 2, 9)
  })
})

describe('what is remembered of overlaps', () => {
  it('does not lose a proven author to a hundred new names', () => {
    const proven = (author: string): number => (author === key('ann') ? 3 : 0)
    const flood = Array.from({ length: 100 }, (_, index) =>
      event({ who: `new${index}`, hour: 1 + index / 100 }),
    )
    const overlaps = [event({ who: 'ann', hour: 0 }), ...flood, event({ who: 'bob', hour: 3 })].reduce(
      (before, one) => evolveOverlaps(before, one, proven),
      NO_OVERLAPS,
    )
    expect(shareOf(overlaps, 'bob', 'ann')).toBeCloseTo(1 - (3 / 24) ** 2, 12)
    expect(overlaps.stances.get('BTC' as never)).toHaveLength(64)
  })

  it('does not lose a proven author in a real log either', () => {
    const resolved: NewEvent = {
      type: 'attribution.measured.v1',
      source: 'learning',
      ts: at(0),
      payload: {
        call_id: 'x',
        producer_id: 'ann',
        contributor_id: null,
        symbol: 'ETH',
        direction: 'bullish',
        ref_price: 100,
        exit_price: 101,
        return_pct: 0.01,
        band_pct: 0.0022,
        hit: true,
        base_rate: 0.4,
        horizon: '24h',
      },
    } as unknown as NewEvent
    const opening = recorded({ who: 'ann', hour: -30, symbol: 'ETH', callId: 'x' })
    const flood = Array.from({ length: 100 }, (_, index) => recorded({ who: `new${index}`, hour: 2 }))
    const { overlaps } = stateAfter([
      opening,
      resolved,
      recorded({ who: 'ann', hour: 1 }),
      ...flood,
      recorded({ who: 'bob', hour: 3 }),
    ]).reputation
    expect(shareOf(overlaps, 'bob', 'ann')).toBeGreaterThan(0.9)
  })

  it('is swept once a day, and drops pairs that did not meet for half a year', () => {
    const met = after({ who: 'ann', hour: 0 }, { who: 'bob', hour: 1 })
    const soon = evolveOverlaps(met, cycle(48), nobody)
    expect(soon.stances.size).toBe(0)
    expect(soon.repetitions.size).toBe(1)
    expect(evolveOverlaps(soon, cycle(49), nobody)).toBe(soon)
    expect(evolveOverlaps(soon, cycle(179 * 24), nobody).repetitions.size).toBe(1)
    expect(evolveOverlaps(soon, cycle(180 * 24), nobody).repetitions.size).toBe(0)
  })

  it('is swept again after a clock that was years ahead', () => {
    const ahead = evolveOverlaps(NO_OVERLAPS, cycle(3650 * 24), nobody)
    const said = evolveOverlaps(ahead, event({ who: 'ann', hour: 0 }), nobody)
    expect(evolveOverlaps(said, cycle(48), nobody).stances.size).toBe(0)
  })

  const day = Math.floor(START_MS / DAY_MS)
  const pairs = (count: number, squares: number) =>
    PersistentMap(
      Array.from({ length: count }, (_, index) => [
        `producer:x${index}\nproducer:y`,
        { agreed: squares, atOnce: squares, squares, asOfCall: 1, day },
      ]),
    )

  it('is bounded, and names without a record fill half of it', () => {
    const half: Overlaps = { ...NO_OVERLAPS, repetitions: pairs(50_000, 1) }
    const calls = [event({ who: 'ann', hour: 0 }), event({ who: 'bob', hour: 1 })]
    const sizeAfter = (before: Overlaps, worthOf: (author: string) => number): number =>
      calls.reduce((overlaps, one) => evolveOverlaps(overlaps, one, worthOf), before).repetitions.size
    expect(sizeAfter(half, nobody)).toBe(50_000)
    expect(sizeAfter(half, () => 1)).toBe(50_001)
    const full: Overlaps = { ...NO_OVERLAPS, repetitions: pairs(100_000, 1) }
    expect(sizeAfter(full, () => 1)).toBe(100_000)
  })

  it('makes room by dropping pairs with an unproven name that met rarely', () => {
    const crowded: Overlaps = {
      ...NO_OVERLAPS,
      repetitions: pairs(40_001, 1)
        .set('producer:a\nproducer:b', { agreed: 3, atOnce: 3, squares: 3, asOfCall: 3, day })
        .set('producer:c\nproducer:d', { agreed: 1, atOnce: 1, squares: 1, asOfCall: 1, day }),
    }
    const proven = (author: string): number => (['producer:c', 'producer:d'].includes(author) ? 1 : 0)
    expect([...evolveOverlaps(crowded, cycle(24), proven).repetitions.keys()].toSorted()).toEqual([
      'producer:a\nproducer:b',
      'producer:c\nproducer:d',
    ])
    const roomy: Overlaps = { ...NO_OVERLAPS, repetitions: pairs(40_000, 1) }
    expect(evolveOverlaps(roomy, cycle(24), nobody).repetitions.size).toBe(40_000)
  })

  it('takes no more authors than fit, until those without pairs give way', () => {
    const counts = PersistentMap(
      Array.from({ length: 100_000 }, (_, index) => [
        `producer:x${index}`,
        { calls: 1, weight: 1, squares: 1, lean: 0 },
      ]),
    )
    const full: Overlaps = { ...NO_OVERLAPS, counts, repetitions: pairs(5, 1) }
    expect(evolveOverlaps(full, event({ who: 'ann', hour: 0 }), nobody)).toBe(full)
    const tidy = evolveOverlaps(full, cycle(24), nobody)
    expect([...tidy.counts.keys()].toSorted()).toEqual([0, 1, 2, 3, 4].map((index) => `producer:x${index}`))
    expect(evolveOverlaps(tidy, event({ who: 'ann', hour: 25 }), nobody).counts.has(key('ann'))).toBe(true)
  })

  it('is not changed by signals without a call, nor by damaged events', () => {
    const before = after({ who: 'ann', hour: 0 })
    const withPayload = (changes: object): KnownEvent => {
      const said = event({ who: 'bob', hour: 1 })
      return { ...said, payload: { ...said.payload, ...changes } } as unknown as KnownEvent
    }
    for (const changes of [
      { symbol: null },
      { direction: null },
      { call_id: null },
      { due_at: null },
      { due_at: 'soon' },
      { due_at: at(1) },
      { received_at: 'never' },
      { producer_id: 'x\nproducer:ann' },
    ])
      expect(evolveOverlaps(before, withPayload(changes), nobody)).toBe(before)
    expect(evolveOverlaps(before, withPayload({}), nobody)).not.toBe(before)
  })
})
