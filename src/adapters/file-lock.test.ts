import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { withFileLock } from './file-lock.ts'

let folder: string
let path: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'file-lock-'))
  path = join(folder, 'thing.lock')
})
afterEach(() => rm(folder, { recursive: true }))

const deadPid = async (): Promise<number> => {
  const child = spawn(process.execPath, ['-e', ''])
  await once(child, 'exit')
  return child.pid ?? 0
}
const holder = (pid: number, host: string): string => `${pid} ${host} x`
const makeOld = (): Promise<void> => utimes(path, new Date(0), new Date(0))

it('lets one in at a time and cleans up, also after a failure', async () => {
  let inside = 0
  const enter = async (): Promise<void> => {
    inside += 1
    expect(inside).toBe(1)
    await nextTurn()
    inside -= 1
  }
  await Promise.all(Array.from({ length: 10 }, () => withFileLock(path, enter)))
  const failing = withFileLock(path, () => Promise.reject(new Error('inside')))
  await expect(failing).rejects.toThrow('inside')
  expect(await readdir(folder)).toEqual([])
})

it('takes over from a dead process at once, and only one does', async () => {
  await writeFile(path, holder(await deadPid(), hostname()))
  let inside = 0
  const results = await Promise.all(
    Array.from({ length: 10 }, () =>
      withFileLock(path, async ({ isStillOurs }) => {
        inside += 1
        expect(inside).toBe(1)
        const ours = await isStillOurs()
        inside -= 1
        return ours
      }),
    ),
  )
  expect(results).toEqual(Array.from({ length: 10 }, () => true))
  expect(await readdir(folder)).toEqual([])
})

it.each([
  ['of another machine', holder(1, 'elsewhere')],
  ['without a holder', ''],
])('takes over an old lock %s, and respects a young one', async (_name, text) => {
  await writeFile(path, text)
  await expect(withFileLock(path, () => Promise.resolve('in'), { waitMsMax: 50 })).rejects.toThrow(
    'held by another process',
  )
  expect(await readFile(path, 'utf8')).toBe(text)
  await makeOld()
  expect(await withFileLock(path, () => Promise.resolve('in'))).toBe('in')
})

it('survives a takeover that was cut short', async () => {
  await writeFile(path, holder(await deadPid(), hostname()))
  await writeFile(`${path}.takeover`, '')
  await expect(withFileLock(path, () => Promise.resolve('in'), { waitMsMax: 50 })).rejects.toThrow(
    'held by another process',
  )
  await utimes(`${path}.takeover`, new Date(0), new Date(0))
  expect(await withFileLock(path, () => Promise.resolve('in'))).toBe('in')
})

it('tells a holder that it lost the lock, and leaves the new holder alone', async () => {
  await withFileLock(path, async ({ isStillOurs }) => {
    await writeFile(path, 'another')
    expect(await isStillOurs()).toBe(false)
  })
  expect(await readFile(path, 'utf8')).toBe('another')
})
