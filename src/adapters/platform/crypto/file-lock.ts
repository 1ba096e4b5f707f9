import { randomUUID } from 'node:crypto'
import { rm, stat, unlink, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { orNull, readTextFile } from './private-file.ts'

export interface HeldLock {
  /** False after another process took the lock over: then nothing may be written any more. */
  readonly isStillOurs: () => Promise<boolean>
}

/**
 * Runs `action` while no other process or caller runs one under the same path. A lock left behind by a
 * dead process is taken over at once where that can be known, else after half a minute.
 */
export const withFileLock = async <Result>(
  path: string,
  action: (lock: HeldLock) => Promise<Result>,
  waitMsMax: number = STALE_MS + 10_000,
): Promise<Result> => {
  const owner = JSON.stringify({ pid: process.pid, host: hostname(), id: randomUUID() })
  const isStillOurs = async (): Promise<boolean> => (await readTextFile(path)) === owner
  await acquire(path, owner, waitMsMax)
  try {
    return await action({ isStillOurs })
  } finally {
    if (await isStillOurs()) await unlink(path)
  }
}

const RETRY_MS = 10
/** Holders write one small file: after this long a holder is gone. */
const STALE_MS = 30_000

const acquire = async (path: string, owner: string, waitMsMax: number): Promise<void> => {
  const deadline = performance.now() + waitMsMax
  while (performance.now() < deadline) {
    if (await createExclusively(path, owner)) return
    if (await isStale(path)) await removeStale(path)
    // Random steps, so that waiters do not retry at the same time again and again.
    else await wait(RETRY_MS / 2 + Math.random() * RETRY_MS)
  }
  throw new Error(`the lock ${path} is held by another process: delete the file if none is running`)
}

/**
 * Two waiters may see the same dead holder, and the slower one would remove the faster one's new lock.
 * So removing needs a lock of its own, and looks again once it has it.
 */
const removeStale = async (path: string): Promise<void> => {
  const guard = `${path}.takeover`
  if (!(await createExclusively(guard, ''))) {
    if (await isOld(guard)) await rm(guard, { force: true })
    await wait(RETRY_MS)
    return
  }
  try {
    if (await isStale(path)) await rm(path, { force: true })
  } finally {
    await rm(guard, { force: true })
  }
}

const isStale = async (path: string): Promise<boolean> => {
  const text = await readTextFile(path)
  if (text === null) return false
  return isDeadHere(text) || (await isOld(path))
}

const isDeadHere = (text: string): boolean => {
  const holder = /^\{"pid":(\d{1,10}),"host":(".*"),"id":/.exec(text)
  if (holder === null || holder[2] !== JSON.stringify(hostname())) return false
  try {
    process.kill(Number(holder[1]), 0)
    return false
  } catch (error) {
    // Any other error (the process of another user) means that it is alive.
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

const isOld = async (path: string): Promise<boolean> => {
  const found = await orNull('ENOENT', stat(path))
  return found !== null && Date.now() - found.mtimeMs > STALE_MS
}

const createExclusively = async (path: string, text: string): Promise<boolean> =>
  (await orNull(
    'EEXIST',
    writeFile(path, text, { flag: 'wx', mode: 0o600 }).then(() => true),
  )) ?? false
