import { randomUUID } from 'node:crypto'
import { open, rm, stat, utimes } from 'node:fs/promises'
import { hostname } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { orNull, readTextFile } from './files.ts'

export interface HeldLock {
  /** False after another process took the lock over. The caller must then write nothing more. */
  readonly isStillOurs: () => Promise<boolean>
}

export interface LockOptions {
  readonly waitMsMax?: number
  /** Error to throw when another process holds the lock for too long. */
  readonly heldError?: () => Error
}

/**
 * Runs `action` while no other process or caller runs one under the same path. A lock is taken over at once if its
 * holder was a process of this machine that has ended. Any other lock is taken over when its holder shows no sign of
 * life: process ids are reused, and the ids of another container mean nothing here.
 */
export const withFileLock = async <Result>(
  path: string,
  action: (lock: HeldLock) => Promise<Result>,
  { waitMsMax = SILENT_MS_MAX + 10_000, heldError = () => heldByAnother(path) }: LockOptions = {},
): Promise<Result> => {
  const owner = `${process.pid} ${hostname()} ${randomUUID()}`
  const isStillOurs = async (): Promise<boolean> => (await readTextFile(path)) === owner
  const beginMs = performance.now()
  while (!(await isCreated(path, owner))) {
    if ((await isLeft(path)) && (await isRemoved(path))) continue
    if (performance.now() - beginMs > waitMsMax) throw heldError()
    // Random steps, so that waiters do not retry at the same time again and again.
    await wait(RETRY_MS / 2 + Math.random() * RETRY_MS)
  }
  const alive = setInterval(() => void touch(path), ALIVE_MS).unref()
  try {
    return await action({ isStillOurs })
  } finally {
    clearInterval(alive)
    if (await isStillOurs()) await rm(path, { force: true })
  }
}

const RETRY_MS = 10
/** Interval at which a holder renews its sign of life, and the time without one after which it counts as gone. */
const ALIVE_MS = 5000
const SILENT_MS_MAX = 30_000

const heldByAnother = (path: string): Error =>
  new Error(`the lock ${path} is held by another process: delete the file if none is running`)

/** False if the file exists. No partial file remains when the disk is full. */
const isCreated = async (path: string, text: string): Promise<boolean> => {
  await using file = await orNull('EEXIST', open(path, 'wx', 0o600))
  if (file === null) return false
  try {
    await file.writeFile(text)
    return true
  } catch (error) {
    await rm(path, { force: true })
    throw error
  }
}

/**
 * Two waiters may see the same dead holder, and the slower one would remove the faster one's new lock. Removing
 * therefore needs a lock of its own, and checks again after acquiring it.
 */
const isRemoved = async (path: string): Promise<boolean> => {
  const guard = `${path}.takeover`
  if (!(await isCreated(guard, ''))) {
    if (await isSilent(guard)) await rm(guard, { force: true })
    return false
  }
  try {
    if (await isLeft(path)) await rm(path, { force: true })
    return true
  } finally {
    await rm(guard, { force: true })
  }
}

const isLeft = async (path: string): Promise<boolean> => {
  const [pid, host] = ((await readTextFile(path)) ?? '').split(' ')
  const isDead = host === hostname() && !isRunning(Number(pid))
  return isDead || (await isSilent(path))
}

const isSilent = async (path: string): Promise<boolean> => {
  const found = await orNull('ENOENT', stat(path))
  return found !== null && Date.now() - found.mtimeMs > SILENT_MS_MAX
}

const touch = (path: string): Promise<unknown> => utimes(path, new Date(), new Date()).catch(() => undefined)

/** True if the process runs on this machine. */
export const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Any other error (the process of another user) means that it is alive.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
