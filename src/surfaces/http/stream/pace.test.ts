import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { Pace } from './pace.ts'

describe('a pace', () => {
  it('works soon after it is asked to, once for all who ask meanwhile', async () => {
    let rounds = 0
    const pace = new Pace(5, async () => void (rounds += 1), raise)
    for (let count = 0; count < 10; count += 1) pace.ask()
    expect(rounds).toBe(0)
    while (rounds < 1) await sleep(1)
    pace.ask()
    while (rounds < 2) await sleep(1)
    await sleep(10)
    expect(rounds).toBe(2)
  })

  it('works again if it is asked to while it works, and never twice at a time', async () => {
    let working = 0
    let rounds = 0
    const pace: Pace = new Pace(
      0,
      async () => {
        working += 1
        expect(working).toBe(1)
        rounds += 1
        if (rounds < 5) pace.ask()
        await sleep(1)
        working -= 1
      },
      raise,
    )
    pace.ask()
    while (rounds < 5) await sleep(1)
    await sleep(10)
    expect(rounds).toBe(5)
  })

  it('keeps its time', async () => {
    const beganMs: number[] = []
    const pace = new Pace(30, async () => void beganMs.push(performance.now()), raise)
    while (beganMs.length < 3) {
      pace.ask()
      await sleep(1)
    }
    const [first = 0, second = 0, third = 0] = beganMs
    // Timers of Node may be up to a millisecond early.
    expect(second - first).toBeGreaterThan(28)
    expect(third - second).toBeGreaterThan(28)
  })

  it('tells of trouble and goes on', async () => {
    const troubles: unknown[] = []
    let rounds = 0
    const pace = new Pace(
      0,
      async () => {
        rounds += 1
        throw new Error(`round ${rounds}`)
      },
      (error) => troubles.push(error),
    )
    for (const count of [1, 2]) {
      pace.ask()
      while (troubles.length < count) await sleep(1)
    }
    expect(troubles).toEqual([new Error('round 1'), new Error('round 2')])
  })
})

const raise = (error: unknown): never => {
  throw error
}
