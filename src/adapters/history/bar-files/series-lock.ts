import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { HistoryError } from '../../../ports/bar-history.ts'

/**
 * Runs while no other process changes the files of this folder. Two that read, merge and write at the same time would
 * lose the bars of one. A lock is taken over at once from a process of this machine that is gone, and from any other
 * when it shows no sign of life: numbers of processes are given again, and those of another container say nothing here.
 * `assertHeld` throws where that happened to a holder that was only asleep: it must write nothing any more.
 */
export const withLock = async <T>(
  folder: string,
  run: (assertHeld: () => Promise<void>) => Promise<T>,
  waitMsMax: number = SILENT_MS_MAX + 15_000,
): Promise<T> => {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, LOCK_NAME)
  const owner = `${process.pid} ${hostname()} ${randomUUID()}`
  const isHeld = async (): Promise<boolean> => (await readOrNull(path)) === owner
  const beginMs = performance.now()
  while (!(await isCreated(path, owner))) {
    if (await isLeft(path)) await removeLeft(path)
    else if (performance.now() - beginMs > waitMsMax) throw new HistoryError(takenText(folder, path))
    else await setTimeout(ATTEMPT_MS)
  }
  const alive = setInterval(() => void touch(path), ALIVE_MS).unref()
  try {
    return await run(async () => {
      if (!(await isHeld())) throw new HistoryError(takenText(folder, path))
    })
  } finally {
    clearInterval(alive)
    if (await isHeld()) await rm(path, { force: true })
  }
}

const LOCK_NAME = '.lock'
const ATTEMPT_MS = 50
/** A holder shows that it lives this often, and is gone if it has not for so long. */
const ALIVE_MS = 5000
const SILENT_MS_MAX = 30_000

const takenText = (folder: string, path: string): string =>
  `${folder} is being written by another process: try again later, or remove ${path}`

/** False if it is there already. Nothing is left where the disk is full. */
const isCreated = async (path: string, text: string): Promise<boolean> => {
  try {
    await writeFile(path, text, { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    await rm(path, { force: true })
    throw error
  }
}

/** Of several that see the same dead holder, one removes its lock: the others would remove the lock of that one. */
const removeLeft = async (path: string): Promise<void> => {
  const guard = `${path}.takeover`
  if (!(await isCreated(guard, ''))) {
    if (await isSilent(guard)) await rm(guard, { force: true })
    await setTimeout(ATTEMPT_MS)
    return
  }
  try {
    if (await isLeft(path)) await rm(path, { force: true })
  } finally {
    await rm(guard, { force: true })
  }
}

const isLeft = async (path: string): Promise<boolean> => {
  const [pid, host] = ((await readOrNull(path)) ?? '').split(' ')
  const isDead = host === hostname() && !isRunning(Number(pid))
  return isDead || (await isSilent(path))
}

const isSilent = async (path: string): Promise<boolean> => {
  const found = await orNull(stat(path))
  return found !== null && Date.now() - found.mtimeMs > SILENT_MS_MAX
}

const touch = (path: string): Promise<unknown> => utimes(path, new Date(), new Date()).catch(() => undefined)

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // A process of somebody else is running all the same.
    return codeOf(error) !== 'ESRCH'
  }
}

const readOrNull = (path: string): Promise<string | null> => orNull(readFile(path, 'utf8'))

/** Null for a file that is not there. */
const orNull = async <T>(found: Promise<T>): Promise<T | null> => {
  try {
    return await found
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code
