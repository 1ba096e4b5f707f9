import { mkdir, mkdtemp, readFile, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { HistoryBar } from '../../../core/market/history/series.ts'
import type { BarStore } from '../../../ports/bar-history.ts'
import { createBarStore } from './bar-store.ts'
import { createTableEncoder } from './table-encoder.ts'

let folder: string
let store: BarStore
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bars-'))
  store = createBarStore(folder)
})
afterEach(() => rm(folder, { recursive: true }))

const NAME = { venue: 'binance', symbol: 'BTC-USDT', seconds: 3600 }
const HOUR_MS = 3_600_000
const KEEP = { replaces: false }
const barsFrom = (day: string, hours: number, price = 100): readonly HistoryBar[] =>
  Array.from({ length: hours }, (_, hour) => ({
    openMs: Date.parse(day) + hour * HOUR_MS,
    open: price + hour / 7,
    high: price + hour / 7 + 1.1,
    low: price + hour / 7 - 1,
    close: price + hour / 7 + 0.1,
    volume: hour,
  }))
const all = async (months: AsyncIterable<readonly HistoryBar[]>): Promise<readonly HistoryBar[]> => {
  const bars: HistoryBar[] = []
  for await (const month of months) bars.push(...month)
  return bars
}
const FOLDER = ['bars', 'binance', 'BTC-USDT', '1h']

describe('the store of bars', () => {
  it('keeps every bit, in one file per month, and gives back any range', async () => {
    const bars = barsFrom('2024-01-31', 48)
    expect(await store.merge(NAME, bars.toReversed(), KEEP)).toMatchObject({ added: 48, conflicts: [] })
    expect(await readdir(join(folder, ...FOLDER))).toEqual(['2024-01.parquet', '2024-02.parquet'])
    expect(await all(store.read(NAME))).toEqual(bars)
    const [fromMs, toMs] = [Date.parse('2024-01-31T22:00Z'), Date.parse('2024-02-01T02:00Z')]
    expect(await all(store.read(NAME, { fromMs, toMs }))).toEqual(bars.slice(22, 26))
    expect(await all(store.read({ ...NAME, venue: 'kraken' }))).toEqual([])
  })

  it('writes a plain table that any reader of Parquet understands', async () => {
    await store.merge(NAME, barsFrom('2024-01-01', 2), KEEP)
    const file = await asyncBufferFromFile(join(folder, ...FOLDER, '2024-01.parquet'))
    const { schema, row_groups } = await parquetMetadataAsync(file)
    expect(schema.slice(1).map(({ name, type }) => [name, type])).toEqual([
      ['open_time', 'INT64'],
      ...['open', 'high', 'low', 'close', 'volume'].map((name) => [name, 'DOUBLE']),
    ])
    expect(schema[1]).toMatchObject({
      logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
    })
    expect(row_groups[0]?.columns.map(({ meta_data }) => meta_data?.codec)).toEqual(
      Array.from({ length: 6 }, () => 'SNAPPY'),
    )
    expect((await parquetReadObjects({ file }))[1]).toMatchObject({
      open_time: new Date('2024-01-01T01:00Z'),
    })
  })

  it('merges the same bars only once, and leaves the file alone', async () => {
    await store.merge(NAME, barsFrom('2024-01-01', 24), KEEP)
    const path = join(folder, ...FOLDER, '2024-01.parquet')
    const before = await stat(path)
    expect(await store.merge(NAME, barsFrom('2024-01-01', 24), KEEP)).toMatchObject({
      added: 0,
      repeated: 24,
    })
    expect((await stat(path)).ino).toBe(before.ino)
  })

  it('reports bars that differ, and replaces them only when asked to', async () => {
    await store.merge(NAME, barsFrom('2024-01-01', 2), KEEP)
    const others = barsFrom('2024-01-01', 2, 500)
    expect((await store.merge(NAME, others, KEEP)).conflicts).toHaveLength(2)
    expect(await all(store.read(NAME))).toEqual(barsFrom('2024-01-01', 2))
    expect(await store.merge(NAME, others, { replaces: true })).toMatchObject({ replaced: 2 })
    expect(await all(store.read(NAME))).toEqual(others)
  })

  it('loses nothing when several write at once', async () => {
    const days = ['2024-01-01', '2024-01-02', '2024-01-03', '2024-01-04']
    await Promise.all(days.map((day) => createBarStore(folder).merge(NAME, barsFrom(day, 24), KEEP)))
    expect(await all(store.read(NAME))).toHaveLength(96)
    expect(await readdir(join(folder, ...FOLDER))).toEqual(['2024-01.parquet'])
  })

  it('takes over the lock of a process that is gone, and ignores half-written files', async () => {
    await mkdir(join(folder, ...FOLDER), { recursive: true })
    await writeFile(join(folder, ...FOLDER, '.lock'), `4194300 ${hostname()} x`)
    await writeFile(join(folder, ...FOLDER, '.2024-01.parquet.1.partial'), 'PAR1')
    expect(await store.merge(NAME, barsFrom('2024-01-01', 1), KEEP)).toMatchObject({ added: 1 })
    expect(await all(store.read(NAME))).toHaveLength(1)
  })

  it('removes half-written files that nobody writes any more', async () => {
    await mkdir(join(folder, ...FOLDER), { recursive: true })
    for (const pid of [1, 2])
      await writeFile(join(folder, ...FOLDER, `.2024-01.parquet.${pid}.partial`), 'PAR1')
    const hoursAgo = new Date(Date.now() - 2 * 3_600_000)
    await utimes(join(folder, ...FOLDER, '.2024-01.parquet.1.partial'), hoursAgo, hoursAgo)
    await store.merge(NAME, barsFrom('2024-01-01', 1), KEEP)
    expect(await readdir(join(folder, ...FOLDER))).toEqual(['.2024-01.parquet.2.partial', '2024-01.parquet'])
  })

  it('lists what is stored and leaves alone what others put there', async () => {
    await store.merge(NAME, barsFrom('2024-01-31', 48), KEEP)
    await mkdir(join(folder, 'bars', 'binance', 'BTC-USDT', 'notes'))
    await writeFile(join(folder, 'bars', 'README'), 'mine')
    expect(await store.list()).toMatchObject([
      {
        ...NAME,
        bars: 48,
        firstOpenMs: Date.parse('2024-01-31T00:00Z'),
        lastOpenMs: Date.parse('2024-02-01T23:00Z'),
      },
    ])
  })

  it.each([
    ['no Parquet', Buffer.from('hello')],
    ['cut off', null],
  ])('refuses a file that is %s, and does not overwrite it', async (_what, content) => {
    await store.merge(NAME, barsFrom('2024-01-01', 24), KEEP)
    const path = join(folder, ...FOLDER, '2024-01.parquet')
    const bytes = content ?? (await readFile(path)).subarray(0, 300)
    await writeFile(path, bytes)
    await expect(all(store.read(NAME))).rejects.toThrow(/2024-01\.parquet is not a file of bars/)
    await expect(store.merge(NAME, barsFrom('2024-01-01', 25), KEEP)).rejects.toThrow(/not a file of bars/)
    expect(await readFile(path)).toEqual(Buffer.from(bytes))
  })

  it('refuses a table without the columns of bars', async () => {
    const encoder = createTableEncoder([{ name: 'open_time', type: 'time' }])
    await mkdir(join(folder, ...FOLDER), { recursive: true })
    await writeFile(
      join(folder, ...FOLDER, '2024-01.parquet'),
      Buffer.concat([await encoder.add([['2024-01-01']]), await encoder.end()]),
    )
    await expect(store.list()).rejects.toThrow(/no column open, high, low, close, volume/)
  })
})

describe('longer bars', () => {
  const made = () => join(folder, 'resampled', 'binance', 'BTC-USDT', '1d', '2024-01.parquet')

  it('are made once, and again when their source has changed', async () => {
    await store.merge(NAME, barsFrom('2024-01-30', 30), KEEP)
    const days = () => all(store.readResampled(NAME, 86_400))
    expect(await days()).toMatchObject([{ openMs: Date.parse('2024-01-30'), open: 100, volume: 276 }])
    const before = await stat(made())
    await days()
    expect((await stat(made())).ino).toBe(before.ino)
    // The day that was not complete is now, and the month is no longer the last one.
    await store.merge(NAME, barsFrom('2024-01-30', 49), KEEP)
    expect(await days()).toHaveLength(2)
    expect(await all(store.readResampled(NAME, 86_400, { fromMs: Date.parse('2024-01-31') }))).toHaveLength(1)
  })

  it('are made again when the file is damaged or gone', async () => {
    await store.merge(NAME, barsFrom('2024-01-01', 48), KEEP)
    await all(store.readResampled(NAME, 86_400))
    await writeFile(made(), 'broken')
    expect(await all(store.readResampled(NAME, 86_400))).toHaveLength(2)
    await rm(made())
    expect(await all(store.readResampled(NAME, 86_400))).toHaveLength(2)
  })
})

describe('a table', () => {
  it('holds texts, numbers, flags and times of several pieces, and what is unknown', async () => {
    const encoder = createTableEncoder([
      { name: 'text', type: 'text' },
      { name: 'number', type: 'number' },
      { name: 'integer', type: 'integer' },
      { name: 'flag', type: 'flag' },
      { name: 'time', type: 'time' },
    ])
    const time = '2024-01-01T00:00:00.001Z'
    const pieces = [
      await encoder.add([['é', 0.1, 2 ** 53 - 1, true, time]]),
      await encoder.add([]),
      await encoder.add([[null, null, null, null, null]]),
    ]
    const path = join(folder, 'table.parquet')
    await writeFile(path, Buffer.concat([...pieces, await encoder.end()]))
    expect(await parquetReadObjects({ file: await asyncBufferFromFile(path) })).toEqual([
      { text: 'é', number: 0.1, integer: BigInt(2 ** 53 - 1), flag: true, time: new Date(time) },
      { text: null, number: null, integer: null, flag: null, time: null },
    ])
  })
})
