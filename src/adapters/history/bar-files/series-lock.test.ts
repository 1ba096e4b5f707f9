import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { withSeriesLock } from './bar-store.ts'

let folder: string
let path: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'series-lock-'))
  path = join(folder, '.lock')
})
afterEach(() => rm(folder, { recursive: true }))

const GONE = 4_194_300

const makeOld = (file: string): Promise<void> => utimes(file, new Date(0), new Date(0))

describe('the lock of a series', () => {
  it.each([
    ['whose number was given to a running process', `${process.pid} ${hostname()} x`],
    ['of another machine or container', `${GONE} elsewhere x`],
    ['that was killed before it wrote its name', ''],
    ['of an earlier version', String(process.pid)],
  ])('is taken over from a holder %s, once that is silent', async (_who, text) => {
    await writeFile(path, text)
    const refused = withSeriesLock(folder, () => Promise.resolve('in'), 0)
    await expect(refused).rejects.toThrow('is being written by another process')
    expect(await readFile(path, 'utf8')).toBe(text)
    await makeOld(path)
    expect(await withSeriesLock(folder, () => Promise.resolve('in'), 0)).toBe('in')
    expect(await readdir(folder)).toEqual([])
  })

  it('is taken over at once from a process of this machine that is gone, by one at a time', async () => {
    await writeFile(path, `${GONE} ${hostname()} x`)
    let inside = 0
    const enter = async (assertHeld: () => Promise<void>): Promise<void> => {
      inside += 1
      expect(inside).toBe(1)
      await assertHeld()
      await nextTurn()
      inside -= 1
    }
    await Promise.all(Array.from({ length: 10 }, () => withSeriesLock(folder, enter)))
    expect(await readdir(folder)).toEqual([])
  })

  it('is taken over although another takeover was cut short', async () => {
    await writeFile(path, `${GONE} ${hostname()} x`)
    await writeFile(`${path}.takeover`, '')
    await makeOld(`${path}.takeover`)
    expect(await withSeriesLock(folder, () => Promise.resolve('in'))).toBe('in')
  })

  it('says so to a holder that lost it, and leaves the new one alone', async () => {
    const held = withSeriesLock(folder, async (assertHeld) => {
      await writeFile(path, 'another')
      await assertHeld()
    })
    await expect(held).rejects.toThrow('is being written by another process')
    expect(await readFile(path, 'utf8')).toBe('another')
  })
})
