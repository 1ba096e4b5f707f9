import { describe, expect, it } from 'vitest'
import { stretchOf, STRETCHES_MAX, withUnsigned, type UnsignedEvents } from './unsigned.ts'

const after = (...seqs: readonly number[]): UnsignedEvents => seqs.reduce(withUnsigned, [] as UnsignedEvents)

describe('unsigned events', () => {
  it('are kept as stretches', () => {
    expect(after(3, 4, 5, 9)).toEqual([
      { from: 3, to: 5 },
      { from: 9, to: 9 },
    ])
  })

  it('are found by their seq', () => {
    const unsigned = after(3, 4, 9)
    expect([2, 3, 4, 5, 9, 10].map((seq) => stretchOf(unsigned, seq)?.from)).toEqual([
      undefined,
      3,
      3,
      undefined,
      9,
      undefined,
    ])
  })

  it('are never forgotten, and take no more room than their limit', () => {
    const seqs = Array.from({ length: STRETCHES_MAX + 5 }, (_, index) => 2 * index + 1)
    const unsigned = after(...seqs)
    expect(unsigned).toHaveLength(STRETCHES_MAX)
    expect(seqs.filter((seq) => stretchOf(unsigned, seq) === undefined)).toEqual([])
    expect(stretchOf(unsigned, 2)).toBeUndefined()
  })
})
