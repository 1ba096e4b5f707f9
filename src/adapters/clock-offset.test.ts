import { expect, it } from 'vitest'
import { createClockOffset } from './clock-offset.ts'

/** A reading of a clock that is `aheadMs` ahead; its answer was under way for so long, there and back. */
const reading = (sentMs: number, thereMs: number, backMs: number, aheadMs = 0) => ({
  sentMs,
  receivedMs: sentMs + thereMs + backMs,
  theirMs: sentMs + thereMs + aheadMs,
})

it('is the middle of a quick answer', () => {
  const clock = createClockOffset()
  expect(clock.offsetMs()).toBeNull()
  expect(clock.add(reading(1000, 20, 20, 300))).toBe(true)
  expect(clock.offsetMs()).toBe(300)
})

it.each([
  ['there', 8000, 10],
  ['back', 10, 8000],
  ['both ways', 4000, 4000],
])('does not change by an answer that is slow %s', (_, thereMs, backMs) => {
  const clock = createClockOffset()
  expect(clock.add(reading(0, thereMs, backMs))).toBe(false)
  expect(clock.offsetMs()).toBeNull()
  clock.add(reading(10_000, 20, 20, 5))
  expect(clock.add(reading(20_000, thereMs, backMs))).toBe(false)
  expect(clock.offsetMs()).toBe(5)
})

it('keeps the best reading for a while, and takes a better one at once', () => {
  const clock = createClockOffset()
  clock.add(reading(0, 0, 400))
  expect(clock.offsetMs()).toBe(-200)
  clock.add(reading(1000, 0, 40))
  expect(clock.offsetMs()).toBe(-20)
  clock.add(reading(2000, 400, 0))
  expect(clock.offsetMs()).toBe(-20)
  clock.add(reading(700_000, 400, 0))
  expect(clock.offsetMs()).toBe(200)
})

it('follows a clock that was set, also by a slow answer, where it cannot be explained otherwise', () => {
  const clock = createClockOffset()
  clock.add(reading(0, 20, 20))
  expect(clock.add(reading(1000, 4000, 4000, 90_000))).toBe(true)
  expect(clock.offsetMs()).toBe(90_000)
  clock.add(reading(20_000, 20, 20, -90_000))
  expect(clock.offsetMs()).toBe(-90_000)
})
