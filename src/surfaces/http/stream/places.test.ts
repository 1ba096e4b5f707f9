import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { Places } from './places.ts'

describe('places', () => {
  it('lets only so many work at a time, in order, also after one failed', async () => {
    const places = new Places(2)
    const begun: number[] = []
    let working = 0
    const work = (number: number) => async (): Promise<number> => {
      begun.push(number)
      working += 1
      expect(working).toBeLessThanOrEqual(2)
      await setImmediate()
      working -= 1
      if (number === 1) throw new Error('one failed')
      return number
    }
    const outcomes = await Promise.allSettled([0, 1, 2, 3, 4].map((number) => places.take(work(number))))
    expect(begun).toEqual([0, 1, 2, 3, 4])
    expect(outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : 'failed'))).toEqual([
      0,
      'failed',
      2,
      3,
      4,
    ])
    expect(await places.take(async () => 'free again')).toBe('free again')
  })
})
