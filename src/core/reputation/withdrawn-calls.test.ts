import { describe, expect, it } from 'vitest'
import { canonicalSymbol } from '../shared/symbol.ts'
import { HOUR_MS } from './calls.fixture.ts'
import { after, key, shareOf, START_MS, type Said } from './overlaps.fixture.ts'
import { authorsWithOpenCall } from './overlaps.ts'

/** Pseudo-random numbers from 0 to 1, determined by the seed. */
const drawsFrom = (seed: number) => {
  let state = seed
  return (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

describe('a call that its author contradicts while it is open', () => {
  it('counts for the part of its time before that', () => {
    const kept = 2 ** -0.01
    const overlaps = after(
      { who: 'ann', hour: 0 },
      { who: 'bob', hour: 0 },
      { who: 'ann', hour: 6, direction: 'bearish' },
    )
    // The call stood for a quarter of its time.
    expect(shareOf(overlaps, 'bob', 'ann')).toBe(0.25)
    // One call for a quarter of its time, and one that disagrees.
    expect(shareOf(overlaps, 'ann', 'bob')).toBeCloseTo(-0.9375 / (0.25 * kept + 1), 12)
  })

  it('leaves no trace of what the other corrects at once', () => {
    const overlaps = after(
      { who: 'ann', hour: 0 },
      { who: 'bob', hour: 0 },
      { who: 'ann', hour: 6, direction: 'bearish' },
      { who: 'bob', hour: 6, direction: 'bearish' },
    )
    expect(shareOf(overlaps, 'bob', 'ann')).toBeCloseTo(1, 12)
    expect(shareOf(overlaps, 'ann', 'bob')).toBeCloseTo(0, 12)
  })

  it('counts in full if the other has nothing to say, or if it is over', () => {
    const neutral = after(
      { who: 'ann', hour: 0 },
      { who: 'bob', hour: 0 },
      { who: 'ann', hour: 6, direction: 'neutral' },
    )
    expect(shareOf(neutral, 'bob', 'ann')).toBe(1)
    const over = after(
      { who: 'ann', hour: 0 },
      { who: 'bob', hour: 0 },
      { who: 'ann', hour: 24, direction: 'bearish' },
    )
    expect(shareOf(over, 'bob', 'ann')).toBe(1)
  })

  it('is open until it is due when its author comes back to it', () => {
    const back = after(
      { who: 'ann', hour: 0, callId: 'up', dueHour: 24 },
      { who: 'ann', hour: 20, direction: 'bearish' },
      { who: 'ann', hour: 21, callId: 'up', dueHour: 24 },
    )
    const openAt = (hours: number) =>
      authorsWithOpenCall(back, canonicalSymbol('BTC'), START_MS + hours * HOUR_MS)
    expect(openAt(23)).toEqual([key('ann')])
    expect(openAt(24)).toEqual([])
  })

  it('is open for as long as a call that repeats it, also while others speak', () => {
    const repeated = after(
      { who: 'ann', hour: 0 },
      { who: 'ann', hour: 20 },
      { who: 'bob', hour: 30 },
      // Repeats the call before, with an earlier due time.
      { who: 'ann', hour: 21, dueHour: 25 },
    )
    const openAt = (hours: number) =>
      authorsWithOpenCall(repeated, canonicalSymbol('BTC'), START_MS + hours * HOUR_MS)
    expect(openAt(43)).toEqual([key('ann'), key('bob')])
    expect(openAt(44)).toEqual([key('bob')])
    // Bob called after the end of the first call of ann, so nothing is repeated.
    expect(shareOf(repeated, 'bob', 'ann')).toBeUndefined()
  })

  it('is not counted down for whoever it was no news to', () => {
    const again = after(
      { who: 'ann', hour: 0, dueHour: 72 },
      { who: 'bob', hour: 6 },
      { who: 'bob', hour: 31 },
      { who: 'ann', hour: 40, direction: 'bearish' },
    )
    const kept = 2 ** -0.01
    // The weight consists of two calls. Only the first one was compared with ann's.
    expect(shareOf(again, 'bob', 'ann')).toBeCloseTo((kept * (1 - (6 / 72) ** 2)) / (1 + kept), 12)
  })

  const said = (who: string, hour: number, isUp: boolean): Said => ({
    who,
    hour,
    direction: isUp ? 'bullish' : 'bearish',
  })

  /**
   * How far two authors repeat each other who speak every six hours, either of them first. Without noise both call at
   * random.
   */
  const repeatedBy = (seed: number, noise: number | null): number => {
    const draw = drawsFrom(seed)
    const words = Array.from({ length: 600 }, (_, index): readonly Said[] => {
      const up = draw() < 0.5
      const other = noise === null ? draw() < 0.5 : draw() < noise ? !up : up
      return [said('ann', 6 * index + draw(), up), said('bob', 6 * index + draw(), other)]
    }).flat()
    const overlaps = after(...words.toSorted((one, other) => one.hour - other.hour))
    return [
      ['ann', 'bob'],
      ['bob', 'ann'],
    ].reduce(
      (sum, [later = '', earlier = '']) => sum + Math.max(0, shareOf(overlaps, later, earlier) ?? 0),
      0,
    )
  }
  const meanOf = (noise: number | null): number =>
    [1, 2, 3, 4, 5, 6].reduce((sum, seed) => sum + repeatedBy(seed, noise) / 6, 0)

  it('hides no copy that is first as often as second, nor one with noise, and harms nobody who speaks for himself', () => {
    // Some agreement is lost while only one of the two has changed its mind.
    expect(meanOf(0)).toBeGreaterThan(0.8)
    expect(meanOf(0.1)).toBeGreaterThan(0.6)
    expect(meanOf(null)).toBeLessThan(0.1)
  })
})
