import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Lease } from '../ports/leadership.ts'
import type { Timer } from '../ports/timer.ts'
import { keepLease, readClocks } from './lease.ts'

/** No heartbeat comes: the process stands still. */
const STOPPED: Timer = {
  now: () => 0,
  wait: (_ms, signal) =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true })),
}

const clocks = { steadyMs: 0, wallMs: 0 }
const VALID_MS = 1000

const leaseNow = (): Lease => {
  Object.assign(clocks, { steadyMs: 50_000, wallMs: 1_800_000_000_000 })
  vi.spyOn(performance, 'now').mockImplementation(() => clocks.steadyMs)
  vi.spyOn(Date, 'now').mockImplementation(() => clocks.wallMs)
  const renew = (): Promise<boolean> => Promise.resolve(true)
  const giveUp = (): Promise<void> => Promise.resolve()
  return keepLease({ token: 1, takenAt: readClocks(), validMs: VALID_MS, timer: STOPPED, renew, giveUp })
}

afterEach(() => void vi.restoreAllMocks())

describe('a lease without a heartbeat ends', () => {
  it.each([
    ['while both clocks go on', 1001, 1001],
    ['while the machine sleeps and the steady clock stands still', 0, 1001],
    ['while the time of day is set back', 1001, -3_600_000],
  ])('%s', async (_, steadyMs, wallMs) => {
    const lease = leaseNow()
    clocks.steadyMs += VALID_MS - 1
    clocks.wallMs += VALID_MS - 1
    expect(lease.isValid()).toBe(true)
    clocks.steadyMs += steadyMs - (VALID_MS - 1)
    clocks.wallMs += wallMs - (VALID_MS - 1)
    expect(lease.isValid()).toBe(false)
    await lease.release()
  })
})
