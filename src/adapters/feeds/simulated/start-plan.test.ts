import fc from 'fast-check'
import { expect, it } from 'vitest'
import { CATCH_UP_BARS_MAX, catchUpFrom, planStart } from './start-plan.ts'

const situations = fc.record({
  nowMs: fc.integer({ min: 1_700_000_000_000, max: 1_900_000_000_000 }),
  barSeconds: fc.oneof(fc.constantFrom(1, 60, 300, 900, 3600, 86_400), fc.integer({ min: 1, max: 86_400 })),
  warmupHours: fc.integer({ min: 0, max: 8760 }),
})

it('plans a past that ends, on both grids, where the ordinary bars begin', () => {
  fc.assert(
    fc.property(situations, (situation) => {
      const { warmup, openMs } = planStart({ ...situation, lastCloseMs: null })
      const barMs = situation.barSeconds * 1000
      expect(openMs % barMs).toBe(0)
      expect(openMs).toBeLessThanOrEqual(situation.nowMs)
      expect(warmup.count * 900).toBe(situation.warmupHours * 3600)
      const warmupEndMs = warmup.openMs + warmup.count * 900_000
      expect(warmupEndMs).toBeLessThanOrEqual(openMs)
      expect(openMs - warmupEndMs).toBeLessThan(barMs)
      if (warmup.count > 0) expect(warmup.openMs % 900_000).toBe(0)
    }),
  )
})

it('goes on at the first bar behind the stored ones', () => {
  const minute = { nowMs: 10_000_000, barSeconds: 60, warmupHours: 72 }
  expect(planStart({ ...minute, lastCloseMs: 9_000_000 })).toMatchObject({
    warmup: { count: 0 },
    openMs: 9_000_000,
  })
  expect(planStart({ ...minute, lastCloseMs: 9_000_001 }).openMs).toBe(9_060_000)
})

it('makes up for a bounded number of bars', () => {
  fc.assert(
    fc.property(situations, fc.nat(), ({ nowMs, barSeconds }, behind) => {
      const barMs = barSeconds * 1000
      const openMs = (Math.floor(nowMs / barMs) - behind) * barMs
      const fromMs = catchUpFrom(openMs, nowMs, barSeconds)
      expect(fromMs).toBeGreaterThanOrEqual(openMs)
      expect(Math.floor((nowMs - fromMs) / barMs)).toBe(Math.min(behind, CATCH_UP_BARS_MAX))
    }),
  )
})
