import { expect, it } from 'vitest'
import { Bloom } from './bloom.ts'
import { dedupeHash } from './dedupe-hash.ts'
import { RUN_KEYS } from './sorted-run.ts'

const hashOfKey = (number: number): number => dedupeHash(`producer:signal:${number}`)

it('never denies what was added, and seldom claims what was not', () => {
  const bloom = new Bloom()
  for (let number = 0; number < RUN_KEYS; number += 1) bloom.add(hashOfKey(number))
  const again = new Bloom(Uint8Array.from(bloom.bytes))
  let denied = 0
  let claimed = 0
  for (let number = 0; number < RUN_KEYS; number += 1) {
    if (!again.mayHave(hashOfKey(number))) denied += 1
    if (again.mayHave(hashOfKey(number + RUN_KEYS))) claimed += 1
  }
  expect(denied).toBe(0)
  expect(claimed / RUN_KEYS).toBeLessThan(0.002)
})

it('has one size', () => {
  expect(() => new Bloom(new Uint8Array(7))).toThrow('131072 bytes')
})
