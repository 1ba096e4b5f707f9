import { describe, expect, it } from 'vitest'
import { createSteadyTime } from './steady-time.ts'

const START_MS = Date.UTC(2026, 1, 20)
const HOUR_MS = 3_600_000

const machine = () => {
  const sources = { wall: START_MS, elapsed: 5000, uptime: 90_000 }
  const time = createSteadyTime({
    wallMs: () => sources.wall,
    elapsedMs: () => sources.elapsed,
    uptimeMs: () => sources.uptime,
  })
  const pass = (ms: number): void => {
    sources.wall += ms
    sources.elapsed += ms
    sources.uptime += ms
  }
  return { sources, time, pass }
}

describe('steady time', () => {
  it('begins at the clock of the machine and goes on by the time that passes', () => {
    const { time, pass } = machine()
    expect(time.now()).toBe(START_MS)
    pass(1500)
    expect(time.now()).toBe(START_MS + 1500)
  })

  it.each([-HOUR_MS, HOUR_MS, 365 * 24 * HOUR_MS])('does not follow a clock that is set by %d ms', (jump) => {
    const { sources, time, pass } = machine()
    sources.wall += jump
    pass(1000)
    expect(time.now()).toBe(START_MS + 1000)
    expect(time.wallNow()).toBe(START_MS + jump + 1000)
  })

  it('is corrected in small steps and never goes back', () => {
    const { time, pass } = machine()
    const before = time.now()
    time.slew(-50)
    expect(time.now()).toBe(before)
    pass(60)
    expect(time.now()).toBe(before + 10)
    time.slew(20)
    expect(time.now()).toBe(before + 30)
  })

  it('counts the time in which the machine sleeps', () => {
    const { sources, time, pass } = machine()
    pass(2000)
    expect(time.now()).toBe(START_MS + 2000)
    // The monotonic clock stands still, as on Linux.
    sources.wall += HOUR_MS
    sources.uptime += HOUR_MS
    pass(1000)
    expect(time.now()).toBe(START_MS + HOUR_MS + 3000)
    pass(1000)
    expect(time.now()).toBe(START_MS + HOUR_MS + 4000)
  })

  it('takes the clock and the passing of time of the machine by itself', async () => {
    const time = createSteadyTime()
    const before = time.now()
    expect(Math.abs(before - Date.now())).toBeLessThan(1000)
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(time.now() - before).toBeGreaterThanOrEqual(29)
  })
})
