import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { csv, minutes, row, tsOf, useFiles } from './file-feed.fixture.ts'
import { createReorderWindow } from './sorted-bars.ts'

const { replayed } = useFiles()

describe('the order of rows', () => {
  const inOrder = minutes(3000).map((minute) => `${tsOf(minute).slice(11, 16)} BTC ${100 + minute}`)

  it.each([
    ['newest first', minutes(3000).toReversed()],
    ['in two halves', [...minutes(1500).map((minute) => minute + 1500), ...minutes(1500)]],
    ['with a late row', [...minutes(3000).filter((minute) => minute !== 5), 5]],
    [
      'interleaved',
      [...minutes(1500).map((minute) => 2 * minute), ...minutes(1500).map((minute) => 2 * minute + 1)],
    ],
  ])('does not matter: %s', async (_name, order) => {
    const { short, errors } = await replayed(csv(...order.map((minute) => row(minute))), {
      symbols: ['BTC'],
    })
    expect(short).toEqual(inOrder)
    expect(errors).toEqual([])
  })

  it('does not matter: symbol after symbol', async () => {
    const rows = ['BTC', 'ETH'].flatMap((symbol) => minutes(1500).map((minute) => row(minute, symbol, 1)))
    const { short } = await replayed(csv(...rows))
    expect(short).toEqual(
      minutes(1500).map(
        (minute) => `${tsOf(minute).slice(11, 16)} BTC 1, ${tsOf(minute).slice(11, 16)} ETH 1`,
      ),
    )
  })

  it('does not matter, whatever it is', async () => {
    const orders = fc.shuffledSubarray([...minutes(40)], { minLength: 40 })
    await fc.assert(
      fc.asyncProperty(orders, async (order) => {
        const { short } = await replayed(csv(...order.map((minute) => row(minute))), { symbols: ['BTC'] })
        expect(short).toEqual(inOrder.slice(0, 40))
      }),
      { numRuns: 10 },
    )
  })
})

describe('the length of a bar', () => {
  it.each([
    ['the most frequent distance', [0, 5, 10, 25, 30, 35], 300],
    ['the shortest of equals', [0, 60, 180], 3600],
    ['as configured, when there is one time only', [7], 60],
  ])('is %s', async (_name, at, seconds) => {
    const { calls } = await replayed(csv(...at.map((minute) => row(minute))), { symbols: ['BTC'] })
    expect(new Set(calls.flat().map(({ resolution_s }) => resolution_s))).toEqual(new Set([seconds]))
  })
})

it('the reorder window releases times in order, together with all their items, and takes no late item', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 30 })), fc.integer({ min: 1, max: 10 }), (times, width) => {
      const window = createReorderWindow<number>(width)
      const added: number[] = []
      const released: number[] = []
      times.forEach((ms, index) => {
        const isAdded = window.add(ms, index)
        expect(isAdded).toBe(ms > (released.at(-1) ?? -1))
        if (isAdded) added.push(index)
        const group = window.overflow()
        if (group === null) return
        released.push(group.ms)
        expect(group.items.every((item) => times[item] === group.ms)).toBe(true)
      })
      for (let group = window.next(); group !== null; group = window.next()) released.push(group.ms)
      expect(released).toEqual([...new Set(added.map((index) => times[index] ?? 0))].sort((a, b) => a - b))
    }),
  )
})
