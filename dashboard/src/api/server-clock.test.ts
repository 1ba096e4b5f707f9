import { describe, expect, it } from 'vitest'
import { behindBy } from './server-clock.ts'

describe('the clock of a browser', () => {
  const sent = 'Wed, 18 Nov 2026 08:00:00 GMT'
  const sentMs = Date.parse(sent)

  it('is right within what a header in whole seconds can say', () => {
    for (const ms of [-2000, 0, 999, 3000]) expect(behindBy(sent, sentMs + ms)).toBe(0)
  })

  it('is corrected when it is wrong', () => {
    expect(behindBy(sent, sentMs - 600_000)).toBe(600_500)
    expect(behindBy(sent, sentMs + 600_000)).toBe(-599_500)
  })

  it('stays as it is without a readable header', () => {
    expect([behindBy(null, sentMs), behindBy('yesterday', sentMs)]).toEqual([null, null])
  })
})
