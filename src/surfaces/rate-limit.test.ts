import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addressOf, CALLERS_MAX, RateLimit, WINDOW_MS } from './rate-limit.ts'

describe('the rate limit', () => {
  it('allows the configured number of requests per minute, and says how long to wait', () => {
    const limit = new RateLimit()
    for (let count = 0; count < 3; count += 1) expect(limit.take('a', 3, 1000)).toBeNull()
    expect(limit.take('a', 3, 31_000)).toBe(30)
    expect(limit.take('a', 3, 1000 + WINDOW_MS - 1)).toBe(1)
    expect(limit.take('a', 3, 1000 + WINDOW_MS)).toBeNull()
  })

  it('counts each caller alone', () => {
    const limit = new RateLimit()
    expect(limit.take('a', 1, 0)).toBeNull()
    expect(limit.take('b', 1, 0)).toBeNull()
    expect(limit.take('a', 1, 0)).toBeGreaterThan(0)
  })

  it('takes back what did not count, and no more than that', () => {
    const limit = new RateLimit()
    limit.giveBack('a')
    expect(limit.take('a', 1, 0)).toBeNull()
    limit.giveBack('a')
    limit.giveBack('a')
    expect(limit.take('a', 1, 0)).toBeNull()
    expect(limit.take('a', 1, 0)).toBe(60)
  })

  it('follows a limit that changes', () => {
    const limit = new RateLimit()
    limit.take('a', 1, 0)
    expect(limit.take('a', 1, 1)).toBeGreaterThan(0)
    expect(limit.take('a', 2, 2)).toBeNull()
  })

  it('does not lock callers out when the clock is set back', () => {
    const limit = new RateLimit()
    limit.take('a', 1, 10 * WINDOW_MS)
    expect(limit.take('a', 1, 0)).toBeNull()
  })

  it('remembers a bounded number of callers, and forgets those whose minute is over', () => {
    const limit = new RateLimit()
    for (let caller = 0; caller < CALLERS_MAX + 50; caller += 1) limit.take(String(caller), 1, 0)
    expect(limit.size).toBe(CALLERS_MAX)
    limit.take('late', 1, WINDOW_MS)
    expect(limit.size).toBe(1)
  })

  it('never lets more than the limit pass within one window', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 1000 })),
        fc.integer({ min: 1, max: 5 }),
        (steps, max) => {
          const limit = new RateLimit()
          let passed = 0
          let now = 0
          for (const step of steps) {
            now += step
            if (now >= WINDOW_MS) break
            if (limit.take('a', max, now) === null) passed += 1
          }
          expect(passed).toBeLessThanOrEqual(max)
        },
      ),
    )
  })
})

describe('who sends from an address', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::6', '2001:db8:1:2::/64'],
    ['2001:0DB8:1:2:ffff::', '2001:db8:1:2::/64'],
    ['2001:db8::7', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['', ''],
  ])('at %s is %s', (ip, expected) => {
    expect(addressOf(ip)).toBe(expected)
  })
})
