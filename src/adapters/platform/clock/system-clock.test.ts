import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createSystemClock } from './system-clock.ts'

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const timeOf = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)

it('has the time of the machine, also in its ids', () => {
  const clock = createSystemClock()
  const before = Date.now()
  const now = clock.now()
  const id = clock.newId()
  const after = Date.now()
  expect(now).toBeGreaterThanOrEqual(before)
  expect(now).toBeLessThanOrEqual(after)
  expect(id).toMatch(UUID_V7)
  expect(timeOf(id)).toBeGreaterThanOrEqual(before)
  expect(timeOf(id)).toBeLessThanOrEqual(after)
})

it('gives many ids in one millisecond, each greater than the one before', () => {
  const clock = createSystemClock(() => 1_771_547_398_000)
  let previous = clock.newId()
  for (let count = 0; count < 20_000; count += 1) {
    const id = clock.newId()
    expect(id > previous).toBe(true)
    previous = id
  }
})

it('gives rising ids whatever the clock does', () => {
  const someTimes = fc.array(fc.nat({ max: 2 ** 47 }), { minLength: 2 })
  fc.assert(
    fc.property(someTimes, (times) => {
      let now = 0
      const clock = createSystemClock(() => now)
      const ids = times.map((time) => {
        now = time
        return clock.newId()
      })
      expect(ids).toEqual([...new Set(ids)].sort())
      for (const id of ids) expect(id).toMatch(UUID_V7)
    }),
  )
})
