import { mkdir, open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { HistoryError } from '../../../ports/bar-history.ts'

/**
 * Runs while no other process changes the files of this folder. Two that read, merge and write at the same time would
 * lose the bars of one. The lock of a process that is gone is removed.
 */
export const withLock = async <T>(folder: string, run: () => Promise<T>): Promise<T> => {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, LOCK_NAME)
  for (let attempt = 0; !(await tryToLock(path)); attempt += 1) {
    if (attempt >= ATTEMPTS_MAX) {
      throw new HistoryError(
        `${folder} is being written by another process: try again later, or remove ${path}`,
      )
    }
    await setTimeout(ATTEMPT_MS)
  }
  try {
    return await run()
  } finally {
    await rm(path, { force: true })
  }
}

const LOCK_NAME = '.lock'
const ATTEMPT_MS = 50
const ATTEMPTS_MAX = 200

const tryToLock = async (path: string): Promise<boolean> => {
  try {
    const handle = await open(path, 'wx', 0o600)
    await handle.writeFile(String(process.pid))
    await handle.close()
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const holder = Number(await readFile(path, 'utf8').catch(() => ''))
  if (Number.isSafeInteger(holder) && holder > 0 && !isRunning(holder)) await rm(path, { force: true })
  return false
}

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // A process of somebody else is running all the same.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
