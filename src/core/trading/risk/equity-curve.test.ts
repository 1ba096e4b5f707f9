import { type Usd } from '../../shared/money.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { evolveCurve, INITIAL_CURVE, readCurve, type EquityCurve, type EquitySample } from './equity-curve.ts'

const HOUR_MS = 3_600_000
const MONTH_MS = 720 * HOUR_MS

/** The curve after equity changed at these times, read at the last of them. */
const folded = (changes: readonly EquitySample[]): EquityCurve =>
  changes.reduce<EquityCurve>((curve, { atMs, equity }, index) => {
    const next = changes[index + 1]
    return next === undefined ? curve : evolveCurve(curve, atMs, next.atMs, equity)
  }, INITIAL_CURVE)

const sizeOf = (curve: EquityCurve): number =>
  curve.reduce(
    (size, { pieces, newest }) => size + newest.length + pieces.reduce((sum, piece) => sum + piece.length, 0),
    0,
  )

describe('the equity curve', () => {
  it('says at each of its points what equity was then', () => {
    const change = fc.record({ waitMs: fc.integer({ min: 1, max: 400_000 }), equity: fc.bigInt(0n, 9n) })
    fc.assert(
      fc.property(fc.array(change, { minLength: 2, maxLength: 300 }), (steps) => {
        let atMs = 1_000_000
        const changes = steps.map(({ waitMs, equity }) => ({ atMs: (atMs += waitMs), equity: equity as Usd }))
        const [sinceMs, untilMs] = [changes[0]?.atMs ?? 0, changes.at(-1)?.atMs ?? 0]
        const read = readCurve(folded(changes), { sinceMs, untilMs, points: 240 })
        for (const [index, point] of read.entries()) {
          const before = changes.findLast((one) => one.atMs < point.atMs) ?? changes[0]
          expect(point.equity).toBe(before?.equity)
          expect(point.atMs).toBeGreaterThan(read[index - 1]?.atMs ?? -Infinity)
        }
      }),
    )
  })

  it('knows every range up to a month, and stays small however long it goes on', () => {
    let curve = INITIAL_CURVE
    const endMs = 40 * 24 * HOUR_MS
    for (let atMs = 0; atMs < endMs; atMs += 15_000) {
      curve = evolveCurve(curve, atMs, atMs + 15_000, BigInt(atMs) as Usd)
    }
    for (const hours of [1, 5, 6, 7, 24, 36, 37, 167, 168, 720]) {
      const sinceMs = endMs - hours * HOUR_MS
      const read = readCurve(curve, { sinceMs, untilMs: endMs, points: 240 })
      expect(read).toHaveLength(240)
      for (const { atMs, equity } of read) {
        expect(atMs).toBeGreaterThanOrEqual(sinceMs)
        // Equity changes every 15 s, so the latest change before any time is at most that old.
        expect(atMs - Number(equity)).toBeLessThanOrEqual(15_000)
      }
    }
    expect(endMs).toBeGreaterThan(MONTH_MS)
    expect(sizeOf(curve)).toBeLessThan(5500)
  })

  it('keeps nothing of equity that stays the same', () => {
    let curve = INITIAL_CURVE
    for (let atMs = 0; atMs < HOUR_MS; atMs += 1000) curve = evolveCurve(curve, atMs, atMs + 1000, 7n as Usd)
    expect(sizeOf(curve)).toBe(4)
    const read = readCurve(curve, { sinceMs: HOUR_MS / 2, untilMs: HOUR_MS, points: 60 })
    expect(read).toHaveLength(60)
    expect(new Set(read.map(({ equity }) => equity))).toEqual(new Set([7n]))
  })
})
