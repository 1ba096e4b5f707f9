import { expect, it } from 'vitest'
import { Lanes } from './order-router.ts'

/** Work that ends when the test ends it. */
const held = () => {
  const ends: (() => void)[] = []
  const work = (): Promise<void> => new Promise((resolve) => ends.push(resolve))
  return { ends, work }
}

it('runs one step at a time in a symbol, and eight in total', async () => {
  let freed = 0
  const lanes = new Lanes(() => {
    freed += 1
  })
  const { ends, work } = held()
  lanes.start('S0', work)
  lanes.start('S0', work)
  expect([ends.length, lanes.isFree('S0'), lanes.isFree('S1')]).toEqual([1, false, true])
  for (let symbol = 1; symbol < 10; symbol += 1) lanes.start(`S${symbol}`, work)
  expect([ends.length, lanes.isFree('S8')]).toEqual([8, false])

  ends[3]?.()
  await Promise.resolve()
  await Promise.resolve()
  expect([freed, lanes.isFree('S8'), lanes.isFree('S0')]).toEqual([1, true, false])
  lanes.start('S8', work)
  expect(ends).toHaveLength(9)

  for (const end of ends) end()
  await lanes.settled()
  expect(freed).toBe(9)
})

it('counts steps that begin and end in a symbol', async () => {
  const lanes = new Lanes(() => undefined)
  const { ends, work } = held()
  lanes.start('BTC', work)
  expect([lanes.activityIn('BTC'), lanes.activityIn('ETH')]).toEqual([1, 0])
  ends[0]?.()
  await lanes.settled()
  expect(lanes.activityIn('BTC')).toBe(2)
})
