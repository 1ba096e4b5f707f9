import { describe, expect, it } from 'vitest'
import { testClock } from '../../../test/signer.fixture.ts'
import { RECENT_CHECK_MS, RECENT_EVENTS, recentCheck } from './recent-check.ts'
import type { IntegrityReport } from './report.ts'

const checking = (results: readonly (boolean | Error)[]) => {
  const clock = testClock()
  const asked: unknown[] = []
  const check = recentCheck((request) => {
    const result = results[asked.length]
    asked.push(request)
    return result instanceof Error
      ? Promise.reject(result)
      : Promise.resolve({ ok: result } as unknown as IntegrityReport)
  }, clock)
  return { check, asked, clock }
}

describe('the recent check', () => {
  it('looks once for all who ask within its time', async () => {
    const { check, asked, clock } = checking([true, false])
    expect(await Promise.all([check(), check()])).toEqual([true, true])
    clock.advance(RECENT_CHECK_MS - 1)
    expect(await check()).toBe(true)
    expect(asked).toEqual([{ mode: 'fast', n: RECENT_EVENTS }])
    clock.advance(1)
    expect(await check()).toBe(false)
    expect(asked).toHaveLength(2)
  })

  it('keeps nothing of a look that failed', async () => {
    const { check } = checking([new Error('the store is away'), true])
    await expect(check()).rejects.toThrow('the store is away')
    expect(await check()).toBe(true)
  })
})
