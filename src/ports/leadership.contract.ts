import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { recordsAfter } from '../../test/records.fixture.ts'
import type { EventLog } from './event-log.ts'
import type { Leadership, Lease } from './leadership.ts'
import type { Timer } from './timer.ts'

/** One process on the log. */
export interface LeadershipView {
  readonly log: EventLog
  readonly leadership: Leadership
}

/** Time within which a suspended leader is replaced. */
export const REPLACED_WITHIN_MS = 2000

/** Number of attempts of another process within this time. */
const TRIES = 10

/**
 * Contract of every leadership. `open` returns another process's view of the same log each time. A process is suspended
 * while its timer is stopped.
 */
export const leadershipContract = (
  name: string,
  open: (timer: Timer) => Promise<LeadershipView>,
  canStandStill = true,
): void => {
  const leases: Lease[] = []
  const views: LeadershipView[] = []
  const opened = async (timer: Timer = RUNNING): Promise<LeadershipView> => {
    const view = await open(timer)
    views.push(view)
    return view
  }
  const led = async ({ leadership }: LeadershipView, above = 0): Promise<Lease | null> => {
    const lease = await leadership.tryToLead(above)
    if (lease !== null) leases.push(lease)
    return lease
  }
  const leads = async (view: LeadershipView, above?: number): Promise<Lease> => {
    const lease = await led(view, above)
    if (lease === null) throw new Error('another one leads')
    return lease
  }
  const replaced = async (
    view: LeadershipView,
  ): Promise<{ readonly next: Lease; readonly triedInVain: number }> => {
    for (let triedInVain = 0; ; triedInVain += 1) {
      const next = await led(view)
      if (next !== null) return { next, triedInVain }
      await sleep(REPLACED_WITHIN_MS / TRIES)
    }
  }
  const append = async ({ log }: LeadershipView, leaderToken: number | null): Promise<string> => {
    const head = await log.head()
    return (await log.append(recordsAfter(head, 2), head, leaderToken)).status
  }
  afterEach(async () => {
    for (const lease of leases.splice(0)) await lease.release()
    for (const { leadership, log } of views.splice(0)) {
      await leadership.close()
      await log.close()
    }
  })

  it(`${name}: one leads, the others do not, until it ends`, async () => {
    const [first, second] = [await opened(), await opened()]
    const lease = await leads(first)
    expect(lease.isValid()).toBe(true)
    expect(await led(second)).toBeNull()
    expect(await led(second)).toBeNull()
    await lease.release()
    await lease.ended
    expect(lease.isValid()).toBe(false)
    const next = await leads(second)
    expect(next.token).toBeGreaterThan(lease.token)
    expect(await led(first)).toBeNull()
  })

  it(`${name}: may be released twice`, async () => {
    const lease = await leads(await opened())
    await lease.release()
    await lease.release()
    expect(await led(await opened())).not.toBeNull()
  })

  it(`${name}: gives a token above one that the log knows of`, async () => {
    expect((await leads(await opened(), 1000)).token).toBeGreaterThan(1000)
  })

  it(`${name}: only the newest leader appends under its token, and everybody without one`, async () => {
    const [first, second] = [await opened(), await opened()]
    const lease = await leads(first)
    expect(await append(first, lease.token)).toBe('appended')
    expect(await append(second, null)).toBe('appended')
    await lease.release()
    const next = await leads(second)
    const before = await first.log.head()
    expect(await append(first, lease.token)).toBe('fenced')
    expect(await first.log.head()).toEqual(before)
    expect(await append(first, null)).toBe('appended')
    expect(await append(second, next.token)).toBe('appended')
    expect(await append(second, next.token + 1)).toBe('fenced')
  })

  it.runIf(canStandStill)(`${name}: keeps the lead while it heartbeats`, async () => {
    const [first, second] = [await opened(), await opened()]
    const lease = await leads(first)
    const until = performance.now() + 2 * REPLACED_WITHIN_MS
    while (performance.now() < until) {
      expect(await led(second)).toBeNull()
      expect(lease.isValid()).toBe(true)
      await sleep(REPLACED_WITHIN_MS / TRIES)
    }
  })

  it.runIf(canStandStill)(
    `${name}: one that stands still is replaced in time and can store nothing`,
    async () => {
      const [first, second] = [await opened(FROZEN), await opened()]
      const lease = await leads(first)
      expect(await led(second)).toBeNull()
      const { next, triedInVain } = await replaced(second)
      // Another process leads only after the first one knows that its lease is invalid, and then soon. Measured in
      // attempts, which a slow machine also slows.
      expect(lease.isValid()).toBe(false)
      expect(triedInVain).toBeLessThan(2 * TRIES)
      expect(next.token).toBeGreaterThan(lease.token)
      expect(await append(first, lease.token)).toBe('fenced')
    },
  )

  it.runIf(canStandStill)(`${name}: one that wakes up learns that its lease is over`, async () => {
    const frozen = frozenTimer()
    const [first, second] = [await opened(frozen.timer), await opened()]
    const lease = await leads(first)
    await replaced(second)
    frozen.wake()
    await lease.ended
    expect(lease.isValid()).toBe(false)
  })
}

const RUNNING: Timer = {
  now: () => Date.now(),
  wait: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined),
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))

const FROZEN: Timer = { now: () => Date.now(), wait: (_ms, signal) => aborted(signal) }

const frozenTimer = (): { readonly timer: Timer; wake(): void } => {
  const awake = new AbortController()
  return {
    timer: {
      now: () => Date.now(),
      wait: (_ms, signal) => Promise.race([aborted(signal), aborted(awake.signal)]),
    },
    wake: () => awake.abort(),
  }
}
