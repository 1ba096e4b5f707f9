import { expect, it } from 'vitest'
import { Lane } from './lane.ts'

it('a lane lets one in at a time, in the order in which they came', async () => {
  const lane = new Lane()
  const order: string[] = []
  const pass = async (name: string): Promise<void> => {
    const leave = await lane.enter()
    order.push(`${name} in`)
    await new Promise((resolve) => setImmediate(resolve))
    order.push(`${name} out`)
    leave()
  }
  await Promise.all([pass('a'), pass('b'), pass('c')])
  await pass('d')
  expect(order).toEqual(['a in', 'a out', 'b in', 'b out', 'c in', 'c out', 'd in', 'd out'])
})
