import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { HistoryBar } from '../../../core/market/history/series.ts'
import { beginRun, createBarMemory, FileMemory } from './bar-memory.ts'
import { createBarStore } from './bar-store.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bar-memory-'))
})
afterEach(() => rm(folder, { recursive: true }))

/** Each file is read as its text; `reads` has the files that were really read. */
const textsOf = (weightMax: number) => {
  const memory = new FileMemory<string>(weightMax, (text) => text.length)
  const reads: string[] = []
  const read = (name: string): Promise<string> =>
    memory.valueOf(join(folder, name), 'text', () => {
      reads.push(name)
      return readFile(join(folder, name), 'utf8')
    })
  return { memory, reads, read, write: (name: string, text: string) => writeFile(join(folder, name), text) }
}

describe('what was read of files', () => {
  it('is read once, until the file is another one', async () => {
    const { memory, reads, read, write } = textsOf(100)
    await write('a', 'one')
    memory.beginRun()
    expect([await read('a'), await read('a')]).toEqual(['one', 'one'])
    memory.beginRun()
    expect(await read('a')).toBe('one')
    expect(reads).toEqual(['a'])
    await write('draft', 'two')
    await rename(join(folder, 'draft'), join(folder, 'a'))
    expect([await read('a'), await read('a')]).toEqual(['two', 'two'])
    expect(reads).toEqual(['a', 'a'])
  })

  it('is kept from the beginning up to a limit; the rest is read each time', async () => {
    const { memory, reads, read, write } = textsOf(7)
    for (const name of ['a', 'b', 'c']) await write(name, `${name}23`)
    for (let run = 0; run < 3; run += 1) {
      memory.beginRun()
      for (const name of ['a', 'b', 'c']) expect(await read(name)).toBe(`${name}23`)
    }
    expect(reads).toEqual(['a', 'b', 'c', 'c', 'c'])
  })

  it('makes room when a run did not read it', async () => {
    const { memory, reads, read, write } = textsOf(3)
    for (const name of ['a', 'b']) await write(name, `${name}23`)
    for (const name of ['a', 'b', 'b', 'b']) {
      memory.beginRun()
      await read(name)
    }
    expect(reads).toEqual(['a', 'b', 'b'])
  })

  it('is nothing for a file that cannot be read, which fails each time', async () => {
    const { memory, read, write } = textsOf(100)
    memory.beginRun()
    await expect(read('a')).rejects.toThrow('ENOENT')
    await expect(read('a')).rejects.toThrow('ENOENT')
    await write('a', 'there')
    expect(await read('a')).toBe('there')
  })
})

describe('a store of bars with a memory', () => {
  const NAME = { venue: 'binance', symbol: 'BTC-USDT', seconds: 3600 }
  const HOUR_MS = 3_600_000
  const barsOf = (price: number): readonly HistoryBar[] =>
    Array.from({ length: 48 }, (_, hour) => ({
      openMs: Date.UTC(2024, 0, 31) + hour * HOUR_MS,
      open: price,
      high: price + 2,
      low: price - 1,
      close: price + 1,
      volume: hour,
    }))
  const all = async (months: AsyncIterable<readonly HistoryBar[]>): Promise<readonly HistoryBar[]> => {
    const bars: HistoryBar[] = []
    for await (const month of months) bars.push(...month)
    return bars
  }

  it('answers as one without, before and after bars were replaced', async () => {
    const memory = createBarMemory(1000)
    const [kept, plain] = [createBarStore(folder, memory), createBarStore(folder)]
    for (const price of [100, 200]) {
      await plain.merge(NAME, barsOf(price), { replaces: true })
      for (let run = 0; run < 2; run += 1) {
        beginRun(memory)
        expect(await kept.list()).toEqual(await plain.list())
        expect(await all(kept.read(NAME))).toEqual(barsOf(price))
        for (const seconds of [4 * 3600, 24 * 3600]) {
          const longer = await all(kept.readResampled(NAME, seconds))
          expect(longer).toEqual(await all(plain.readResampled(NAME, seconds)))
          expect(longer[0]?.open).toBe(price)
        }
        const toMs = Date.UTC(2024, 1, 1, 3)
        expect(await all(kept.read(NAME, { toMs }))).toEqual(barsOf(price).slice(0, 27))
      }
    }
  })
})
