import { describe, expect, it } from 'vitest'
import { backoffMs, createRequest, messageOf } from './exchange.ts'

const openRequest = () => {
  const pauses: number[] = []
  const limiter = { pause: (waitMs: number) => pauses.push(waitMs) }
  const isRefusal = (error: unknown) => error instanceof RangeError
  return { pauses, request: createRequest(limiter, new AbortController().signal, isRefusal) }
}

const failing = (error: Error) => async (): Promise<never> => {
  throw error
}

describe('requests that fail', () => {
  it('pause all others, twice as long each time, until one succeeds', async () => {
    const { pauses, request } = openRequest()
    const fail = () => expect(request(failing(new Error('down')))).rejects.toThrow('down')
    for (let failures = 1; failures <= 3; failures += 1) await fail()
    await request(async () => 1)
    await fail()
    expect(pauses).toEqual([1000, 2000, 4000, 1000])
  })

  it('side by side count once, and a refusal not at all', async () => {
    const { pauses, request } = openRequest()
    const downs = [1, 2, 3].map(() => request(failing(new Error('down'))))
    await Promise.allSettled([...downs, request(failing(new RangeError('no such symbol')))])
    expect(pauses).toEqual([1000])
  })

  it('pause for a minute at most', () => {
    expect([0, 1, 2, 3, 6, 7, 1000].map(backoffMs)).toEqual([0, 1000, 2000, 4000, 32_000, 60_000, 60_000])
  })

  it('have a short message', () => {
    expect(messageOf(new Error(`a\n b ${'c'.repeat(1000)}`))).toMatch(/^a b c{296}…$/)
  })
})
