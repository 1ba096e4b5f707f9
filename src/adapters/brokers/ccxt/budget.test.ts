import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createManualTimer, settle } from '../../../ports/manual-timer.fixture.ts'
import { createBudget, HeldBackError } from './budget.ts'

const budgetOf = (rateLimitMs: number) => {
  const timer = createManualTimer(1_000_000)
  const abort = new AbortController()
  return { timer, abort, budget: createBudget({ timer, signal: abort.signal, rateLimitMs }) }
}

describe('the budget', () => {
  it('is never exceeded by more than a burst, whatever is asked', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.double({ min: 0.1, max: 30, noNaN: true }), { minLength: 1, maxLength: 40 }),
        fc.integer({ min: 20, max: 500 }),
        async (costs, rateLimitMs) => {
          const { timer, budget } = budgetOf(rateLimitMs)
          const begunMs = timer.now()
          let spentMs = 0
          const sent = costs.map(async (cost) => {
            await budget.take(cost)
            expect(spentMs).toBeLessThanOrEqual(10_000 + (timer.now() - begunMs) + 1)
            spentMs += cost * rateLimitMs
          })
          const ends = Promise.allSettled(sent)
          await timer.advance(20_000)
          for (const end of await ends)
            if (end.status === 'rejected') expect(end.reason).toBeInstanceOf(HeldBackError)
        },
      ),
      { numRuns: 50 },
    )
  })

  it('sends nothing while the venue wants to be left alone, and says so at once', async () => {
    const { timer, budget } = budgetOf(50)
    budget.hold(60_000)
    await expect(budget.take(1)).rejects.toThrow('another 60000 ms')
    await timer.advance(60_000)
    await budget.take(1)
  })

  it('waits for a moment, and gives up when it is held back meanwhile', async () => {
    const { timer, budget } = budgetOf(1000)
    await budget.take(12)
    const waiting = budget.take(1)
    const ended = waiting.then(
      () => 'sent',
      (error: unknown) => String(error),
    )
    await settle()
    budget.hold(60_000)
    await timer.advance(5000)
    expect(await ended).toContain('left alone')
  })

  it('lets nothing through after a stop', async () => {
    const { abort, budget } = budgetOf(1000)
    await budget.take(12)
    const waiting = budget.take(1)
    abort.abort()
    await expect(waiting).rejects.toThrow('aborted')
    await expect(budget.take(1)).rejects.toThrow('aborted')
  })
})
