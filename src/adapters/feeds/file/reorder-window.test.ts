import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createReorderWindow } from './reorder-window.ts'

it('lets times go in order, keeps what came together, and takes no latecomer', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 30 })), fc.integer({ min: 1, max: 10 }), (times, width) => {
      const window = createReorderWindow<number>(width)
      const taken: number[] = []
      const gone: number[] = []
      times.forEach((ms, index) => {
        const isTaken = window.add(ms, index)
        expect(isTaken).toBe(ms > (gone.at(-1) ?? -1))
        if (isTaken) taken.push(index)
        const group = window.overflow()
        if (group === null) return
        gone.push(group.ms)
        expect(group.items.every((item) => times[item] === group.ms)).toBe(true)
      })
      for (let group = window.next(); group !== null; group = window.next()) gone.push(group.ms)
      expect(gone).toEqual([...new Set(taken.map((index) => times[index] ?? 0))].sort((a, b) => a - b))
    }),
  )
})
