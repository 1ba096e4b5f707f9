import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'

import { afterEach, beforeEach, describe, expect, it } from 'vitest'

interface LockTool {
  readonly withLock: <T>(
    folder: string,
    work: () => Promise<T>,
    options?: { readonly onWait?: () => void },
  ) => Promise<T>
}

const { withLock } = (await import(new URL('../../../tools/lock.mjs', import.meta.url).href)) as LockTool

let home: string
let lock: string

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'lock-'))
  lock = join(home, 'setup', 'lock')
})

afterEach(() => {
  rmSync(home, { recursive: true })
})

describe('the setup lock', () => {
  it('lets one work at a time', async () => {
    let working = 0
    const most: number[] = []
    const work = async (): Promise<void> => {
      working += 1
      most.push(working)
      await new Promise((resolve) => setTimeout(resolve, 5))
      working -= 1
    }
    await Promise.all(Array.from({ length: 8 }, async () => withLock(lock, work)))
    expect(most).toEqual([1, 1, 1, 1, 1, 1, 1, 1])
    expect(existsSync(lock)).toBe(false)
  })

  it('is let go when the work fails', async () => {
    const failing = withLock(lock, async () => Promise.reject(new Error('the work failed')))
    await expect(failing).rejects.toThrow('the work failed')
    expect(await withLock(lock, async () => 'mine')).toBe('mine')
  })

  it('is taken over from a process that is gone', async () => {
    held({ pid: spawnSync(process.execPath, ['-e', '']).pid })
    expect(await withLock(lock, async () => 'mine')).toBe('mine')
  })

  it('is taken over from a holder without a sign of life, although its pid is in use', async () => {
    held({ pid: process.pid })
    utimesSync(lock, new Date(0), new Date(0))
    expect(await withLock(lock, async () => 'mine')).toBe('mine')
  })

  it('is taken over from a holder that died before it left its name', async () => {
    mkdirSync(lock, { recursive: true })
    utimesSync(lock, new Date(0), new Date(0))
    expect(await withLock(lock, async () => 'mine')).toBe('mine')
  })

  it('is waited for while its holder lives', async () => {
    held({ pid: process.pid })
    let waited = false
    const onWait = (): void => {
      waited = true
      rmSync(lock, { recursive: true })
    }
    expect(await withLock(lock, async () => 'mine', { onWait })).toBe('mine')
    expect(waited).toBe(true)
  })

  it('says nothing about the processes of another machine', async () => {
    held({ pid: spawnSync(process.execPath, ['-e', '']).pid, host: `not-${hostname()}` })
    let waited = false
    const onWait = (): void => {
      waited = true
      rmSync(lock, { recursive: true })
    }
    await withLock(lock, async () => 'mine', { onWait })
    expect(waited).toBe(true)
  })
})

const held = ({ pid, host = hostname() }: { readonly pid: number; readonly host?: string }): void => {
  mkdirSync(lock, { recursive: true })
  writeFileSync(join(lock, 'owner.json'), JSON.stringify({ token: 'theirs', pid, host }))
}
