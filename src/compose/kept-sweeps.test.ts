import { mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { keepInUse, removeOldSweeps } from './kept-sweeps.ts'

const DAY_MS = 86_400_000
let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-sweeps-'))
})
afterEach(() => rm(folder, { recursive: true }))

const nameOf = (letter: string): string => `rule-${letter.repeat(16)}.jsonl`
const write = async (name: string, daysAgo: number, bytes = 10): Promise<void> => {
  const at = new Date(Date.now() - daysAgo * DAY_MS)
  await writeFile(join(folder, name), 'x'.repeat(bytes))
  await utimes(join(folder, name), at, at)
}

describe('the results of sweeps', () => {
  it('are removed when there are more than are kept, those that were used longest ago first', async () => {
    for (const [days, letter] of ['a', 'b', 'c', 'd'].entries()) await write(nameOf(letter), days + 2)
    await write('mine.jsonl', 99)
    await removeOldSweeps(folder, { keep: 2 })
    expect(await readdir(folder)).toEqual(['mine.jsonl', nameOf('a'), nameOf('b')])
  })

  it('are removed when they are too large together, except the newest', async () => {
    for (const [days, letter] of ['a', 'b', 'c'].entries()) await write(nameOf(letter), days + 2, 100)
    await removeOldSweeps(folder, { keep: 9, bytesMax: 200 })
    expect(await readdir(folder)).toEqual([nameOf('a'), nameOf('b')])
    await removeOldSweeps(folder, { keep: 9, bytesMax: 1 })
    expect(await readdir(folder)).toEqual([nameOf('a')])
  })

  it('stay while their sweep may be under way', async () => {
    for (const [index, letter] of ['a', 'b', 'c'].entries()) await write(nameOf(letter), index * 0.3)
    await write(nameOf('d'), 9)
    const stop = await keepInUse(join(folder, nameOf('d')))
    stop()
    await removeOldSweeps(folder, { keep: 1, bytesMax: 0 })
    expect(await readdir(folder)).toHaveLength(4)
    expect(Date.now() - (await stat(join(folder, nameOf('d')))).mtimeMs).toBeLessThan(DAY_MS)
  })
})
