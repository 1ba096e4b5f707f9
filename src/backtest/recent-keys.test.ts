import { expect, it } from 'vitest'
import { RecentKeys } from './recent-keys.ts'

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
