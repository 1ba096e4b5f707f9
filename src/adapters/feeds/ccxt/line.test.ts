import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createManualTimer, settle } from '../../../ports/manual-timer.fixture.ts'
import { backoffMs, retryAfterMs } from './backoff.ts'
import { createLine } from './line.ts'

const lineOf = (rateLimitMs: number) => {
  const timer = createManualTimer(1_000_000)
  const abort = new AbortController()
  const isRefusal = (error: unknown) => error instanceof RangeError
  return { timer, abort, line: createLine({ timer, signal: abort.signal, rateLimitMs, isRefusal }) }
}

const failing = (error: Error) => async (): Promise<never> => {
  throw error
}

describe('the budget', () => {
  it('is never exceeded by more than one request, whatever is asked', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.double({ min: 0.1, max: 30, noNaN: true }), { minLength: 1, maxLength: 20 }),
        fc.integer({ min: 20, max: 2000 }),
        async (costs, rateLimitMs) => {
          const { timer, line } = lineOf(rateLimitMs)
          const begunMs = timer.now()
          let spent = 0
          const sent = costs.map(async (cost) => {
            await line.throttle(cost)
            const burst = Math.max(1, 1000 / rateLimitMs)
            expect(spent).toBeLessThanOrEqual(burst + (timer.now() - begunMs) / rateLimitMs + 1e-6)
            spent += cost
          })
          await timer.advance(costs.reduce((sum, cost) => sum + cost, 1) * rateLimitMs)
          await Promise.all(sent)
        },
      ),
      { numRuns: 30 },
    )
  })

  it('lets nothing through after a stop', async () => {
    const { abort, line } = lineOf(1000)
    await line.throttle(5)
    const waiting = [line.throttle(1), line.throttle(1)]
    abort.abort()
    const ends = await Promise.allSettled(waiting)
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  })
})

describe('a line that fails', () => {
  it('is held back for all, twice as long each time, until something succeeds', async () => {
    const { timer, line } = lineOf(50)
    const isOpen = async (): Promise<boolean> => {
      let open = false
      const asked = line.throttle(0).then(() => (open = true))
      await settle()
      const answer = open
      await timer.advance(100_000)
      await asked
      return answer
    }
    for (let failures = 1; failures <= 3; failures += 1) {
      await expect(line.ask(failing(new Error('down')))).rejects.toThrow('down')
      await timer.advance(backoffMs(failures) - 1)
      expect(await isOpen()).toBe(false)
    }
    await line.ask(async () => 1)
    await expect(line.ask(failing(new Error('down')))).rejects.toThrow('down')
    await timer.advance(backoffMs(1))
    expect(await isOpen()).toBe(true)
  })

  it('counts what fails side by side once, and a refusal not at all', async () => {
    const { timer, line } = lineOf(50)
    const downs = [1, 2, 3].map(() => line.ask(failing(new Error('down'))))
    await Promise.allSettled([...downs, line.ask(failing(new RangeError('no such symbol')))])
    const asked = line.throttle(1)
    await timer.advance(backoffMs(1))
    await asked
  })
})

describe('waiting', () => {
  it('is a second, doubled, and a minute at most', () => {
    expect([0, 1, 2, 3, 6, 7, 1000].map(backoffMs)).toEqual([0, 1000, 2000, 4000, 32_000, 60_000, 60_000])
  })

  it('is what the venue asks for, within reason', () => {
    const nowMs = Date.parse('2026-02-20T12:00:00Z')
    expect(retryAfterMs('30', nowMs)).toBe(30_000)
    expect(retryAfterMs('Fri, 20 Feb 2026 12:01:00 GMT', nowMs)).toBe(60_000)
    expect(retryAfterMs('Fri, 20 Feb 2026 11:00:00 GMT', nowMs)).toBe(0)
    expect(retryAfterMs('9'.repeat(30), nowMs)).toBe(3 * 86_400_000)
    expect(retryAfterMs('soon', nowMs)).toBeNull()
    expect(retryAfterMs(null, nowMs)).toBeNull()
  })
})
