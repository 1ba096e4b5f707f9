import { expect, it } from 'vitest'
import { RecentKeys } from './recent-keys.ts'

it('knows the keys of the newest window of each producer, and of the runs in it', () => {
  const keys = new RecentKeys()
  keys.addOfWindow('ta', ['ta:1'], true)
  keys.addOfWindow('depth', ['depth:1'], true)
  keys.addOfWindow('ta', ['ta:2'], true)
  keys.addOfWindow('ta', ['ta:2 too'], false)
  expect(['depth:1', 'ta:2', 'ta:2 too'].filter((key) => !keys.has(key))).toEqual([])
  // The key belongs to an earlier window.
  expect(keys.has('ta:1')).toBe(false)
  keys.addOfWindow('ta', ['ta:2 again'], false)
  expect(['ta:2', 'ta:2 again', 'depth:1'].filter((key) => !keys.has(key))).toEqual([])
})

it('drops old keys many at a time', () => {
  const keys = new RecentKeys()
  for (let index = 0; index <= 20_000; index += 1) keys.add(`key ${index}`)
  expect([0, 9_999, 10_000, 20_000].map((index) => keys.has(`key ${index}`))).toEqual([
    false,
    false,
    true,
    true,
  ])
})
