import { callId, positionId } from '../shared/brand.ts'
import { describe, expect, it } from 'vitest'
import {
  bandOf,
  type BaseRates,
  type Move,
  MOVE_OF,
  moveOf,
  moveRate,
  NO_RATES,
  tradeRate,
  withMove,
  withTrade,
} from './base-rates.ts'
import { nextPlace, NO_QUEUES, waitingIn, withLast, withoutPlace } from './due-queues.ts'
import { directionOfEvidence, probabilityOf } from './open-call.ts'

const rules = { band_min: 0.0022, band_sigma: 0.25 }
const SIGMA = 0.004

describe('the band', () => {
  it('is a quarter of what the price usually moves, or a round trip of costs', () => {
    expect(bandOf(SIGMA * Math.sqrt(16), rules)).toBeCloseTo(0.004, 12)
    expect(bandOf(SIGMA * Math.sqrt(96), rules)).toBeCloseTo(0.009797959, 9)
    expect(bandOf(null, rules)).toBe(0.0022)
    expect(bandOf(0.001, rules)).toBe(0.0022)
  })

  it('makes 100 to 100.3 within four hours a miss for a bullish and a hit for a neutral call', () => {
    const move = moveOf(100.3 / 100 - 1, bandOf(SIGMA * Math.sqrt(16), rules))
    expect([MOVE_OF.bullish === move, MOVE_OF.bearish === move, MOVE_OF.neutral === move]).toEqual([
      false,
      false,
      true,
    ])
    expect(moveOf(0.004, 0.004)).toBe('flat')
    expect(moveOf(0.0041, 0.004)).toBe('up')
    expect(moveOf(-0.0041, 0.004)).toBe('down')
  })
})

describe('base rates', () => {
  const after = (moves: Readonly<Record<Move, number>>): BaseRates =>
    (Object.entries(moves) as [Move, number][]).reduce(
      (rates, [move, count]) =>
        Array.from({ length: count }).reduce<BaseRates>((known) => withMove(known, '24h', move, 0), rates),
      NO_RATES,
    )

  it('begin with what is believed and follow what is seen', () => {
    expect(moveRate(NO_RATES, '24h', 'up', 10)).toBe(0.4)
    expect(moveRate(NO_RATES, '24h', 'flat', 10)).toBe(0.2)
    const seen = after({ up: 30, flat: 10, down: 20 })
    expect(moveRate(seen, '24h', 'up', 10)).toBeCloseTo(0.485714286, 9)
    expect(moveRate(seen, '4h', 'up', 10)).toBe(0.4)
    const sum = (['up', 'flat', 'down'] as const).reduce(
      (total, move) => total + moveRate(seen, '24h', move, 10),
      0,
    )
    expect(sum).toBeCloseTo(1, 12)
  })

  it('of trades begin with how near stop and target are', () => {
    const distances = { prior: 10, stopPct: 0.05, targetPct: 0.1 }
    expect(tradeRate(NO_RATES, distances)).toBeCloseTo(0.333333333, 9)
    const traded = Array.from({ length: 40 }).reduce<BaseRates>(
      (rates, _, index) => withTrade(rates, positionId(`trade-${index}`), index < 12),
      NO_RATES,
    )
    expect(tradeRate(traded, distances)).toBeCloseTo(0.306666667, 9)
    expect(withTrade(traded, positionId('trade-39'), true)).toBe(traded)
  })
})

describe('what a signal says', () => {
  it('has a direction from a tenth on, and is as sure as it is strong', () => {
    expect([0.0999, 0.1, -0.1, 0].map((evidence) => directionOfEvidence(evidence, 0.1))).toEqual([
      'neutral',
      'bullish',
      'bearish',
      'neutral',
    ])
    expect([0, 0.75, 1, 3].map(probabilityOf)).toEqual([0.5, 0.875, 1, 1])
  })
})

describe('a queue', () => {
  it('keeps its order when some leave early, and begins anew when it is empty', () => {
    const full = ['a', 'b', 'c', 'd'].reduce((queues, id) => withLast(queues, 'q', callId(id)), NO_QUEUES)
    const gone = withoutPlace(withoutPlace(full, 'q', 2), 'q', 1)
    expect([...waitingIn(gone, 'q')]).toEqual(['a', 'd'])
    const last = withoutPlace(gone, 'q', 0)
    expect([...waitingIn(last, 'q')]).toEqual(['d'])
    expect(last.bounds.get('q')).toEqual({ head: 3, tail: 4 })
    const empty = withoutPlace(last, 'q', 3)
    expect([empty.bounds.size, empty.places.size, nextPlace(empty, 'q')]).toEqual([0, 0, 0])
    expect([...waitingIn(empty, 'q')]).toEqual([])
  })
})
