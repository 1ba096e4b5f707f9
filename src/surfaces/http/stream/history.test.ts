import { describe, expect, it } from 'vitest'
import { appendTo } from '../../../../test/records.ts'
import { MemoryLog } from '../../../adapters/storage/memory/memory-log.ts'
import { filterOf } from './filter.ts'
import { nextPageEvents, readHistory } from './history.ts'

const logOf = async (count: number): Promise<MemoryLog> => {
  const log = new MemoryLog()
  await appendTo(log, count, (seq) => ({ type: seq % 2 === 0 ? 'alert.test' : 'signal.test.v1' }))
  return log
}

describe('a page of history', () => {
  it('reaches up to its last event if it is full, else up to where it had to', async () => {
    const log = await logOf(10)
    const page = async (names: string, after: number, before: number, limit: number) => {
      const { events, upTo } = await readHistory(log, { after, before, filter: filterOf(names), limit })
      return { events, upTo }
    }
    expect(await page('', 0, 11, 4)).toEqual({ events: 4, upTo: 4 })
    expect(await page('', 4, 11, 100)).toEqual({ events: 6, upTo: 10 })
    expect(await page('alert', 0, 10, 3)).toEqual({ events: 3, upTo: 6 })
    expect(await page('alert', 6, 10, 3)).toEqual({ events: 1, upTo: 9 })
    expect(await page('alert', 8, 10, 3)).toEqual({ events: 0, upTo: 9 })
    expect(await page('learning', 0, 6, 3)).toEqual({ events: 0, upTo: 5 })
    // No first segment at all: the log need not even be asked.
    expect(await page('signal.test', 0, 6, 3)).toEqual({ events: 0, upTo: 5 })
  })

  it('grows and shrinks towards the size of a write', () => {
    const limits = { pageEventsMax: 500, writeBytesMax: 1000 }
    const after = (limit: number, bytes: number): number =>
      nextPageEvents(limit, { bytes: Buffer.alloc(bytes) }, limits)
    expect(after(50, 500)).toBe(100)
    expect(after(50, 10)).toBe(200)
    expect(after(400, 10)).toBe(500)
    expect(after(50, 0)).toBe(200)
    expect(after(50, 2000)).toBe(25)
    expect(after(1, 1_000_000)).toBe(1)
  })
})
