import { describe, expect, it } from 'vitest'
import { createSteadyTime } from '../adapters/platform/clock/steady-time.ts'
import { timestampAt } from '../core/shared/time.ts'
import { createManualTimer, settle } from '../ports/manual-timer.fixture.ts'
import { watchClock, type DetectedClockJump } from './clock-monitor.ts'

const START_MS = Date.UTC(2026, 1, 20)
const HOUR_MS = 3_600_000

const watched = async ({ logMs = START_MS, failures = 0 } = {}) => {
  const timer = createManualTimer(START_MS)
  const jumps: DetectedClockJump[] = []
  const errors: string[] = []
  const machine = { offsetMs: 0, logMs, failures }
  const time = createSteadyTime({
    wallMs: () => timer.now() + machine.offsetMs,
    elapsedMs: () => timer.now(),
    uptimeMs: null,
  })
  const monitor = await watchClock({
    time,
    timer,
    logTime: () => timestampAt(machine.logMs),
    jumpMsMax: () => 10_000,
    onJump: async (jump) => {
      await settle()
      machine.failures -= 1
      if (machine.failures >= 0) throw new Error('the store is away')
      jumps.push(jump)
    },
    onError: (what) => errors.push(what),
  })
  const pass = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second += 1) await timer.advance(1000).then(settle)
  }
  return { timer, time, machine, jumps, errors, pass, monitor }
}

describe('the clock of the machine', () => {
  it.each([HOUR_MS, -HOUR_MS, 365 * 24 * HOUR_MS])('is not followed when it jumps by %d ms', async (jump) => {
    const { timer, time, machine, jumps, pass, monitor } = await watched()
    machine.offsetMs = jump
    await pass(3)
    expect(jumps).toMatchObject([{ cause: 'wall_clock', jumpMs: jump, wallMs: START_MS + jump + 1000 }])
    expect(time.now()).toBe(timer.now())
    machine.offsetMs = 0
    await pass(3)
    expect(jumps).toMatchObject([{ jumpMs: jump }, { cause: 'wall_clock', jumpMs: -jump }])
    expect(time.now()).toBe(timer.now())
    await monitor.close()
  })

  it('is followed slowly where it differs a little', async () => {
    const { timer, time, machine, jumps, pass, monitor } = await watched()
    machine.offsetMs = 300
    await pass(2)
    expect(time.now() - timer.now()).toBe(100)
    await pass(10)
    expect(time.now() - timer.now()).toBe(300)
    machine.offsetMs = -9000
    await pass(100)
    const behindMs = timer.now() - time.now()
    expect(behindMs).toBeGreaterThan(4000)
    expect(behindMs).toBeLessThan(5000)
    expect(jumps).toEqual([])
    await monitor.close()
  })

  it('is reported again until the jump is stored', async () => {
    const { machine, jumps, errors, pass, monitor } = await watched({ failures: 2 })
    machine.offsetMs = HOUR_MS
    await pass(5)
    expect(errors).toEqual(['could not record a jump of the clock', 'could not record a jump of the clock'])
    expect(jumps).toHaveLength(1)
    await monitor.close()
  })
})

describe('a log with a time from the future', () => {
  it('is reported at the start, once for each such time', async () => {
    const { machine, jumps, pass, monitor } = await watched({ logMs: START_MS + HOUR_MS })
    expect(jumps).toMatchObject([{ cause: 'log_ahead', jumpMs: -HOUR_MS }])
    await pass(5)
    expect(jumps).toHaveLength(1)
    machine.logMs += 1
    await pass(5)
    expect(jumps).toHaveLength(2)
    await monitor.close()
  })

  it('is none within the limit', async () => {
    const { jumps, pass, monitor } = await watched({ logMs: START_MS + 10_000 })
    await pass(2)
    expect(jumps).toEqual([])
    await monitor.close()
  })
})
